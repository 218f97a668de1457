"""The capsules of nMEMORY v1: a memory that keeps origins, abstains honestly and forgets for good."""
