package org.apache.kafka.raft;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Timer;
import org.apache.kafka.raft.internals.KRaftControlRecordStateMachine;

import java.util.Optional;

/** The state of a client: its role with the timers, its log's ends, and the voters. */
final class Observed {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Observed() { }

    static ObjectNode state(KafkaRaftClient<byte[]> client, RaftLog log, Object role, long now, long consumed) {
        QuorumState quorum = client.quorum();
        ObjectNode state = JSON.createObjectNode();
        Optional<ReplicaKey> voted = quorum.votedKey();
        KRaftControlRecordStateMachine control = (KRaftControlRecordStateMachine) Wire.field(client, "partitionState");
        state.put("role", role.getClass().getSimpleName().replace("State", ""))
            .put("epoch", quorum.epoch())
            .put("leader", quorum.leaderId().orElse(-1))
            .put("voted", voted.map(ReplicaKey::id).orElse(-1))
            .put("votedDirectory", voted.flatMap(ReplicaKey::directoryId).map(Uuid::toString).orElse(null))
            .put("highWatermark", client.highWatermark().orElse(-1))
            .put("logStart", log.startOffset())
            .put("logEnd", log.endOffset().offset())
            .put("lastEpoch", log.lastFetchedEpoch())
            .put("kraftVersion", control.lastKraftVersion().featureLevel())
            .put("voters", Wire.voters(control.lastVoterSet()))
            .put("consumed", consumed);
        ObjectNode timers = state.putObject("timers");
        if (role instanceof FollowerState follower) {
            Timer update = (Timer) Wire.field(follower, "updateVoterSetPeriodTimer");
            update.update(now);
            timers.put("fetch", follower.remainingFetchTimeMs(now)).put("update", update.remainingMs());
            state.put("download", follower.fetchingSnapshot().map(each -> each.snapshotId().offset() + "@"
                + each.snapshotId().epoch() + ":" + each.sizeInBytes()).orElse(null));
        } else if (role instanceof LeaderState<?> leader) {
            timers.put("checkQuorum", leader.timeUntilCheckQuorumExpires(now))
                .put("beginQuorum", leader.timeUntilBeginQuorumEpochTimerExpires(now));
        } else if (role instanceof UnattachedState unattached) {
            timers.put("election", unattached.remainingElectionTimeMs(now));
        } else if (role instanceof ProspectiveState prospective) {
            timers.put("election", prospective.remainingElectionTimeMs(now));
        } else if (role instanceof CandidateState candidate) {
            timers.put("election", candidate.remainingElectionTimeMs(now));
        } else if (role instanceof ResignedState resigned) {
            timers.put("election", resigned.remainingElectionTimeMs(now));
        }
        return state;
    }
}
