/**
 * Writes a model while it is made, through the hash and into pieces. So memory holds one piece at most, whatever the
 * length of the statement. Pauses keep callers from waiting (STS-22).
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { JsonObject } from "../../../../machines/shared/Json.ts"
import type { ModelHead, ModelRow, SectionFacts, Skeleton } from "../../../../machines/statement/StatementModel.ts"
import { yieldToEventLoop } from "../../../engine/yieldToEventLoop.ts"
import type { Unavailable } from "../../../engine/mailbox/DispatchError.ts"
import type { NewPiece, StatementModels } from "../../../ports/StatementModels.ts"
import { framesOf, rowText } from "./modelText.ts"

/** Writes further rows of a section, in their order; completes once they are hashed and their full pieces stored. */
export type Emit<E> = (rows: ReadonlyArray<ModelRow>) => Effect.Effect<void, E>

/** A section to write: its facts, and its rows page by page. */
export interface PlannedSection<E> {
  readonly facts: SectionFacts
  /**
   * Facts that are known only after the rows. The model's members are in the order of their names, so the names of these
   * facts must come after `rows`.
   */
  readonly after?: () => JsonObject
  readonly rows: (emit: Emit<E>) => Effect.Effect<void, E>
}

/** The error of a statement with more rows than its limit. */
export class TooManyRows extends Error {
  readonly _tag = "TooManyRows"
}

type Wrong = Unavailable | TooManyRows

/** A completely stored model: its id, its hash and its number of rows. */
export interface StoredModel {
  readonly modelId: number
  readonly sha256: string
  readonly rows: number
}

/** Approximate length of a piece, characters. A piece ends after a page of rows, so it may be longer by one page. */
const pieceLength = 256 * 1024
/** The most rows, over all models, that are written before the event loop runs other work. */
const rowsAtOnce = 250
let rowsSince = 0

interface Target {
  readonly models: Pick<StatementModels["Service"], "write" | "finish" | "drop">
  readonly modelId: number
  readonly partnerId: number
  readonly clientId: number
  readonly mostRows: number
}

/** Writes a model to its end. The pieces of a failed model are deleted. */
export const writeModel = (
  target: Target,
  head: ModelHead,
  sections: ReadonlyArray<PlannedSection<Wrong>>
): Effect.Effect<StoredModel, Wrong> => {
  const writing = new Writing(target)
  const framesNow = (): ReadonlyArray<string> => {
    const skeleton: Skeleton = { ...head, sections: sections.map(factsNow) }
    const frames = framesOf(skeleton)
    if (frames.length !== sections.length + 1) throw new Error("a section's facts look like rows")
    return frames
  }
  let frames = framesNow()
  return Effect.gen(function* () {
    for (const [at, section] of sections.entries()) {
      yield* writing.frame(frames[at] as string)
      yield* section.rows((rows) => writing.rows(at, rows))
      yield* writing.endSection(at)
      if (section.after !== undefined) frames = framesNow()
    }
    yield* writing.frame(frames[sections.length] as string)
    return yield* writing.finish
  }).pipe(Effect.onError(() => Effect.ignore(target.models.drop(target.modelId))))
}

const factsNow = ({ facts, after }: PlannedSection<Wrong>): Skeleton["sections"][number] => {
  const later = after?.() ?? {}
  if (Object.keys(later).some((name) => name < "rows"))
    throw new Error("a fact stands before the rows that it rests on")
  return { ...facts, ...later, rows: [] }
}

class Writing {
  private readonly target: Target
  private readonly hash = createHash("sha256")
  private readonly counts: Array<number> = []
  private pending = ""
  private number = 0
  private size = 0
  private total = 0

  constructor(target: Target) {
    this.target = target
  }

  frame(text: string): Effect.Effect<void, Wrong> {
    return this.write(-1, text)
  }

  rows(section: number, rows: ReadonlyArray<ModelRow>): Effect.Effect<void, Wrong> {
    return Effect.gen({ self: this }, function* () {
      this.total += rows.length
      if (this.total > this.target.mostRows) return yield* Effect.fail(new TooManyRows())
      for (let at = 0; at < rows.length; at += rowsAtOnce) {
        for (const row of rows.slice(at, at + rowsAtOnce)) {
          const count = this.counts[section] ?? 0
          this.counts[section] = count + 1
          this.pending += count === 0 ? rowText(row) : `,${rowText(row)}`
        }
        if (this.pending.length >= pieceLength) yield* this.flush(section)
        rowsSince += Math.min(rowsAtOnce, rows.length - at)
        if (rowsSince < rowsAtOnce) continue
        rowsSince = 0
        yield* yieldToEventLoop
      }
    })
  }

  endSection(section: number): Effect.Effect<void, Wrong> {
    this.counts[section] ??= 0
    return this.pending === "" ? Effect.void : this.flush(section)
  }

  get finish(): Effect.Effect<StoredModel, Wrong> {
    return Effect.suspend(() => {
      const { models, modelId: id, partnerId, clientId } = this.target
      const sha256 = this.hash.digest("hex")
      const { size, counts, number: pieces, total: rows } = this
      return Effect.map(models.finish({ id, partnerId, clientId, sha256, size, pieces, counts }), (modelId) => ({
        modelId,
        sha256,
        rows
      }))
    })
  }

  private flush(section: number): Effect.Effect<void, Wrong> {
    const text = this.pending
    this.pending = ""
    return this.write(section, text)
  }

  private write(section: number, content: string): Effect.Effect<void, Wrong> {
    return Effect.suspend(() => {
      this.hash.update(content)
      this.size += Buffer.byteLength(content)
      const { modelId, partnerId, clientId } = this.target
      const piece: NewPiece = { modelId, number: this.number++, partnerId, clientId, section, content }
      return this.target.models.write(piece)
    })
  }
}
