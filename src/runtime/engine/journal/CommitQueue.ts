/** Commits that wait to be written, first in first out, and the buffers in which their batches are encoded. */
import { type BatchBuffers, BatchDraft } from "./BatchDraft.ts"
import type { Commit } from "./Commit.ts"
import type { Sealing } from "../sealing/Sealing.ts"
import type { Counters } from "./stamp.ts"
import { takeBatch, type Waiting } from "./takeBatch.ts"

export class CommitQueue {
  private readonly waiting: Array<Waiting> = []
  /** Buffers of the last committed batch, for reuse: the driver no longer reads them. */
  private spare: BatchBuffers | undefined
  private readonly sealing: Sealing

  constructor(sealing: Sealing) {
    this.sealing = sealing
  }

  get length(): number {
    return this.waiting.length
  }

  push(waiting: Waiting): void {
    this.waiting.push(waiting)
  }

  /** Removes and returns the commits of the next batch: at least one while any commit waits. */
  take(): ReadonlyArray<Waiting> {
    return takeBatch(this.waiting)
  }

  /** Removes and returns all waiting commits, which then no batch contains. */
  clear(): ReadonlyArray<Waiting> {
    return this.waiting.splice(0)
  }

  /** Encodes a batch that follows `counters`. Throws on a value that no column can hold. */
  encode(batch: ReadonlyArray<Waiting>, counters: Counters): BatchDraft {
    const { spare } = this
    this.spare = undefined
    const draft = new BatchDraft(counters, this.sealing, spare)
    for (const { commit } of batch) draft.add(commit)
    return draft
  }

  /** Encodes commits as a batch that is executed only to find faults and is rolled back, so it reuses no buffers. */
  rehearse(commits: ReadonlyArray<Commit>, counters: Counters): BatchDraft {
    const draft = new BatchDraft(counters, this.sealing)
    for (const commit of commits) draft.add(commit)
    return draft
  }

  /** Keeps the buffers of a committed batch for the next batch. */
  written(draft: BatchDraft): void {
    this.spare = draft.release()
  }
}
