"""Directories are compared within their cluster; those that name none go with the majority."""

from kraftool.reports.files.home_cluster import by_cluster, home_of


def test_home_is_what_most_name_and_else_what_is_named_first() -> None:
    assert home_of(["b", "a", None, "a", "", ""]) == "a"
    assert home_of(["b", "a"]) == "b"
    assert home_of([None, ""]) is None


def test_what_names_no_cluster_goes_with_most_others_and_not_with_the_first() -> None:
    listed = [(1, "b"), (2, "a"), (3, None), (4, "a")]
    ids = [[item for item, _ in one] for one in by_cluster(listed, lambda item: item[1])]
    assert ids == [[1], [2, 3, 4]]


def test_where_nothing_names_a_cluster_all_are_one() -> None:
    assert by_cluster([1, 2], lambda number: None) == [[1, 2]]
