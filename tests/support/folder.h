/* SPDX-License-Identifier: MIT */
/* folder.h: a directory of its own for what a test program writes.
 *
 * Plain programs (plain.h) are in one from the start; a Criterion test enters and leaves one by
 * itself. */
#ifndef WEFT_TESTS_FOLDER_H
#define WEFT_TESTS_FOLDER_H

/* The process works in a new, empty directory of $TMPDIR. It goes, with all that is in it, when the
 * process exits, when a check fails, or here: */
void test_folder_enter(void);
/* In a forked child: nothing. */
void test_folder_leave(void);

#endif
