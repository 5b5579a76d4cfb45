package org.apache.kafka.raft;

import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.Scheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Time, timeouts, background work and chance for a raft client: all of them move only on request. */
final class Manual {
    private Manual() { }

    static final class Clock implements Time {
        private long nowMs;

        Clock(long nowMs) { this.nowMs = nowMs; }

        void advanceTo(long ms) { nowMs = Math.max(nowMs, ms); }

        @Override public long milliseconds() { return nowMs; }

        @Override public long nanoseconds() { return nowMs * 1_000_000; }

        @Override public void sleep(long ms) { nowMs += ms; }

        // Abstract in 4.3, a default method in 4.4.
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            if (!condition.get()) throw new TimeoutException("the clock does not move by itself");
        }
    }

    /** Futures that fail at a time. Kafka has a thread for them; here `expire` does its work. */
    static final class Expiration implements ExpirationService {
        private final Time time;
        private final TreeMap<Long, List<CompletableFuture<?>>> waiting = new TreeMap<>();

        Expiration(Time time) { this.time = time; }

        @Override public <T> CompletableFuture<T> failAfter(long timeoutMs) {
            CompletableFuture<T> future = new CompletableFuture<>();
            waiting.computeIfAbsent(time.milliseconds() + timeoutMs, at -> new ArrayList<>()).add(future);
            return future;
        }

        boolean expire() {
            boolean any = false;
            while (!waiting.isEmpty() && waiting.firstKey() <= time.milliseconds())
                for (CompletableFuture<?> future : waiting.pollFirstEntry().getValue())
                    any |= future.completeExceptionally(new TimeoutException("time is up"));
            return any;
        }
    }

    /** Background work of the log: the deletion of files. It is done at once. */
    static final class Background implements Scheduler {
        @Override public void startup() { }

        @Override public void shutdown() { }

        @Override public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            if (periodMs < 0) task.run();
            return new Done();
        }

        private static final class Done extends CompletableFuture<Void> implements ScheduledFuture<Void> {
            Done() { complete(null); }

            @Override public long getDelay(TimeUnit unit) { return 0; }

            @Override public int compareTo(Delayed other) { return 0; }
        }

        @Override public void resizeThreadPool(int size) { }
    }

    /** The same number for every draw of a step, modulo the bound, or the middle below it. kraftool draws it too. */
    static final class Chance extends Random {
        private static final long serialVersionUID = 1L;
        long number;

        @Override public int nextInt(int bound) { return number < 0 ? bound / 2 : (int) (number % bound); }
    }
}
