"""The audit of a fleet: each directory by itself, and what all nodes of a cluster show together.

`audit/` examines each directory in a task: doctor and both verifications, on one read of the files
(`directory_pass.py`). Then `audit/` compares the nodes of a cluster on the workers
(`cluster_rows.py`). It reads a log again for that only if `identities.py` cannot show that its
batches equal those of the others. `findings_table.py` adds the findings to a Delta table and
compares two runs of it. `reports/fleet/` has the model of its report and the HTML page, without
Spark.
"""
