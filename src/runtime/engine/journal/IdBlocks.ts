/**
 * Ids in blocks: the sequence of each kind steps by its block size, so that one `nextval` reserves a block. Taking an id is a
 * memory read; the next block is fetched once the current one is half used. A clean stop returns the unused ids (decision 40);
 * after any other end the next process continues behind the block, so gaps are normal.
 */
import { Effect } from "effect"
import { describeFailure } from "./sqlFailure.ts"
import { idBlocks, type IdKind } from "../../tables/Catalogue.ts"
import { JournalUnavailable } from "./Journal.ts"
import type { IdBlock } from "../../tables/Table.ts"

const blockSizes = { rare: 16, usual: 512, hot: 8_192 } as const satisfies Readonly<Record<IdBlock, number>>

export const idKinds = Object.keys(idBlocks) as ReadonlyArray<IdKind>

/** The number of ids in one block of the kind. */
export const idBlockSize = (kind: IdKind): number => blockSizes[idBlocks[kind]]

export const idSequenceOf = (kind: IdKind): string => `id_${kind.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)}`

/** No id of the kind is reserved at the moment: the turn waits for `refilled` and is decided again. */
export class IdsExhausted extends Error {}

/** The unused ids of one kind. `last`: the first id of the newest block, where its sequence stands. `next`: the first unused id. */
export interface UnusedIds {
  readonly kind: IdKind
  readonly last: number
  readonly next: number
}

interface Block {
  next: number
  end: number
  /** The first id of the following block; null until it is fetched. */
  spare: number | null
  fetching: boolean
}

/**
 * `reserve` returns the first id of a fresh block; `fork` runs a refill in the background. `close` ends the taking of ids, waits
 * for the refills under way and returns the unused ids; from then on `next` throws `JournalUnavailable`.
 */
export const makeIdBlocks = (
  reserve: (kind: IdKind) => Effect.Effect<number, unknown>,
  fork: (refill: Effect.Effect<void>) => void
): {
  readonly next: (kind: IdKind) => number
  readonly fill: Effect.Effect<void, unknown>
  readonly refilled: Effect.Effect<void>
  readonly close: Effect.Effect<ReadonlyArray<UnusedIds>>
} => {
  let closed = false
  const waiting: Array<() => void> = []
  const blocks = new Map<IdKind, Block>(
    idKinds.map((kind) => [kind, { next: 0, end: 0, spare: null, fetching: false }])
  )
  const refill = (kind: IdKind, block: Block): Effect.Effect<void> =>
    reserve(kind).pipe(
      Effect.tap((start) => Effect.sync(() => (block.spare = start))),
      Effect.catch((cause) =>
        Effect.logWarning("a block of ids could not be reserved: the next id tries again", describeFailure(cause))
      ),
      Effect.ensuring(
        Effect.sync(() => {
          block.fetching = false
          for (const resume of waiting.splice(0)) resume()
        })
      ),
      Effect.asVoid
    )
  const next = (kind: IdKind): number => {
    if (closed) throw new JournalUnavailable({ reason: "the process is stopping" })
    const block = blocks.get(kind) as Block
    const size = idBlockSize(kind)
    if (block.spare === null && !block.fetching && block.end - block.next <= size / 2) {
      block.fetching = true
      fork(refill(kind, block))
    }
    if (block.next === block.end) {
      if (block.spare === null) throw new IdsExhausted()
      block.next = block.spare
      block.end = block.spare + size
      block.spare = null
    }
    return block.next++
  }
  const fill = Effect.forEach(
    idKinds,
    (kind) =>
      Effect.map(reserve(kind), (start) => {
        const block = blocks.get(kind) as Block
        block.next = start
        block.end = start + idBlockSize(kind)
      }),
    { discard: true }
  )
  const isRefilling = (): boolean => [...blocks.values()].some(({ fetching }) => fetching)
  const refilled = Effect.callback<void>((resume) => {
    if (isRefilling()) waiting.push(() => resume(Effect.void))
    else resume(Effect.void)
  })
  const close: Effect.Effect<ReadonlyArray<UnusedIds>> = Effect.suspend(() => {
    closed = true
    if (isRefilling()) return Effect.andThen(refilled, close)
    return Effect.succeed(
      [...blocks].flatMap(([kind, { next, end, spare }]) => {
        if (end === 0) return []
        const joins = spare === null || spare === end
        return [{ kind, last: spare ?? end - idBlockSize(kind), next: joins ? next : spare }]
      })
    )
  })
  return { next, fill, refilled, close }
}
