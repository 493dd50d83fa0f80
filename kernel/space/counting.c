/*
 * counting.c - maps page frames in which threads count routines of their program (struct trace_program).
 * Interface: space.h.
 *
 * Each thread block has its part of the address space, whose first pages are mapped, as many as the thread
 * wanted. The page tables are the only list of these frames: they change only by the thread itself, so it
 * may walk them without the lock. The frames are private frames of the space.
 */
#include <kernel/memory/frame.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/thread_block.h>
#include <trace/format/routine.h>

#define COUNTING_FRAMES_MAX 2048u /* of a space: 8 MB */

static uint64_t block_number(uint64_t block_user)
{
    return (block_user - USER_THREAD_BLOCKS) / sizeof(struct thread_block);
}

uint64_t space_counting_address(uint64_t block_user)
{
    return USER_ROUTINES + block_number(block_user) * TRACE_PROGRAM_PAGES * FRAME_SIZE;
}

paddr_t space_counting_frame(struct space *space, uint64_t block_user, uint32_t number)
{
    const uint64_t block = block_number(block_user);
    uint32_t flags;
    if (!(__atomic_load_n(&space->counting_blocks[block / 64], __ATOMIC_RELAXED) >> block % 64 & 1) ||
        number >= TRACE_PROGRAM_PAGES)
        return FRAME_NONE;
    return arch_lookup_page(&space->arch, space_counting_address(block_user) + number * FRAME_SIZE, &flags);
}

static int map_frame(struct space *space, uint64_t block_user, uint32_t number)
{
    const uint64_t block = block_number(block_user);
    const paddr_t frame =
        space->counting_frames < COUNTING_FRAMES_MAX ? frame_alloc_zeroed() : (paddr_t)FRAME_NONE;
    if (frame == FRAME_NONE)
        return -E_NO_MEMORY;
    if (arch_map_page(&space->arch, space_counting_address(block_user) + number * FRAME_SIZE, frame,
                      MAP_READ | MAP_WRITE) < 0) {
        frame_free(frame);
        return -E_NO_MEMORY;
    }
    space->counting_frames++;
    space->private_frames++;
    __atomic_or_fetch(&space->counting_blocks[block / 64], 1ull << block % 64, __ATOMIC_RELAXED);
    return 0;
}

int space_map_counting(struct space *space, uint64_t block_user, uint32_t number)
{
    spin_lock(&space->lock);
    int error = space->released ? -E_DEAD
                : space_counting_frame(space, block_user, number) != FRAME_NONE
                    ? 0
                    : map_frame(space, block_user, number);
    spin_unlock(&space->lock);
    return error;
}

static void free_frames_of(struct space *space, uint64_t block_user)
{
    paddr_t frame;
    for (uint32_t i = 0; (frame = space_counting_frame(space, block_user, i)) != FRAME_NONE; i++) {
        frame_free(frame);
        space->counting_frames--;
    }
}

void space_free_counting(struct space *space)
{
    const uint64_t blocks = sizeof space->counting_blocks * 8;
    for (uint64_t block = 0; space->counting_frames && block < blocks; block++)
        free_frames_of(space, USER_THREAD_BLOCKS + block * sizeof(struct thread_block));
}
