/** Commits that wait to be written, first in first out, and the buffers that their batches are encoded in. */
import { type BatchBuffers, BatchDraft } from "./BatchDraft.ts"
import type { Commit } from "./Commit.ts"
import type { Sealing } from "../sealing/Sealing.ts"
import type { Counters } from "./stamp.ts"
import { takeBatch, type Waiting } from "./takeBatch.ts"

export class CommitQueue {
  private readonly waiting: Array<Waiting> = []
  /** Buffers of the last batch that is in, to be used again: the server holds none of them any more. */
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

  /** The commits of the next batch, at least one. */
  take(): ReadonlyArray<Waiting> {
    return takeBatch(this.waiting)
  }

  /** Everything that waits, gone from the queue. */
  clear(): ReadonlyArray<Waiting> {
    return this.waiting.splice(0)
  }

  /** The batch encoded, after `counters`. Throws on a value that no column can hold. */
  encode(batch: ReadonlyArray<Waiting>, counters: Counters): BatchDraft {
    const { spare } = this
    this.spare = undefined
    const draft = new BatchDraft(counters, this.sealing, spare)
    for (const { commit } of batch) draft.add(commit)
    return draft
  }

  /** Commits encoded as a batch that will not be written. */
  rehearse(commits: ReadonlyArray<Commit>, counters: Counters): BatchDraft {
    const draft = new BatchDraft(counters, this.sealing)
    for (const commit of commits) draft.add(commit)
    return draft
  }

  /** A batch is in: its buffers serve again. */
  written(draft: BatchDraft): void {
    this.spare = draft.release()
  }
}
