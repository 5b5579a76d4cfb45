"""Random requests that move partitions to other brokers."""

from __future__ import annotations

from kraftool.image.topics import PartitionRegistration, TopicImage, is_reassigning
from tests.differential.controller.random_requests import Body, Command
from tests.differential.controller.random_topics import TopicRequests


class ReassignmentRequests(TopicRequests):
    """Reassignments that start, are replaced, cancelled and listed; leaders that complete them."""

    def _some_partition(self) -> tuple[TopicImage, int, PartitionRegistration] | None:
        """Return one that is moving more often than others, so that moves are completed, too."""
        if self.random.random() < 0.4:
            moving = [
                (topic, number, partition)
                for topic in self._state.topics()
                for number, partition in topic.partitions.items()
                if is_reassigning(partition)
            ]
            if moving:
                return self.random.choice(moving)
        return super()._some_partition()

    def _alter_reassignments(self) -> Command:
        random = self.random
        topics: dict[str, list[Body]] = {}
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            chosen = self._some_partition()
            if chosen is None:
                return self._heartbeat()
            topic, number, partition = chosen
            name = topic.name if random.random() < 0.97 else "no-such-topic"
            item = {
                "partitionIndex": number if random.random() < 0.97 else 77,
                "replicas": self._target(partition),
            }
            items = topics.setdefault(name, [])
            if all(known["partitionIndex"] != item["partitionIndex"] for known in items):
                items.append(item)
        body: Body = {
            "timeoutMs": 1_000,
            "topics": [{"name": name, "partitions": items} for name, items in topics.items()],
        }
        if random.random() < 0.2:
            body["allowReplicationFactorChange"] = False
        if random.random() < 0.01:
            body["topics"] = []
        more: Command = {"deadlineMs": self.ours.now_ms - 1} if random.random() < 0.01 else {}
        return self._request("AlterPartitionReassignments", 0, 1, body, **more)

    def _target(self, partition: PartitionRegistration) -> list[int] | None:
        """Return the replicas to be; None cancels."""
        random = self.random
        if random.random() < (0.3 if is_reassigning(partition) else 0.05):
            return None
        there = [broker.id for broker in self._state.brokers()]
        target = list(partition.replicas)
        match random.choice(["other", "other", "one more", "one less", "another order", "same"]):
            case "other":
                target = random.sample(there, min(len(there), random.randint(1, 4)))
            case "one more":
                target += random.sample(there, min(len(there), 1))
                target = list(dict.fromkeys(target))
            case "one less" if len(target) > 1:
                target.remove(random.choice(target))
            case "another order":
                random.shuffle(target)
        if random.random() < 0.04:
            target = random.choice([[], [*target, 99], target + target, [99, 98], [-1]])
        return target

    def _list_reassignments(self) -> Command:
        random, asked = self.random, None
        image = self.ours.loader.image().topics
        if random.random() < 0.5:
            names = random.sample(sorted(image.by_name), min(len(image.by_name), 5))
            asked = [
                {
                    "name": name,
                    "partitionIndexes": [*list(image.by_name[name].partitions)[:20], 77],
                }
                for name in names
            ]
            if random.random() < 0.1:
                asked.append({"name": "no-such-topic", "partitionIndexes": [0]})
        body = {"timeoutMs": 1_000, "topics": asked}
        return self._request("ListPartitionReassignments", 0, 0, body)
