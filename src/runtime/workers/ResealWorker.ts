/**
 * Reseals values of older keys with the current key (architecture, At rest). Runs in the background on its own connection:
 * windows of rows in key order, small batches, and a pause between them. A value that changed meanwhile, or whose row is locked,
 * is left for the next pass. The work ends when a pass finds no value, some time after the rotation and after its own commit in
 * the journal: by then no statement with a value of an older key is in flight. A restart continues with the remaining values.
 */
import { PgClient } from "@effect/sql-pg"
import { Cause, Clock, Effect, Layer, type Redacted } from "effect"
import type { Attribution } from "../engine/mailbox/ActorHost.ts"
import { passPausePoint } from "../engine/PausePoints.ts"
import type { Sealing } from "../engine/sealing/Sealing.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { describeFailure } from "../engine/journal/sqlFailure.ts"
import { KeyRotation } from "../services/operations/operator/KeyRotation.ts"
import { layerDatabasePool } from "../store/databasePool.ts"
import {
  replaceValues,
  type Replacement,
  type RowKey,
  type SealedAt,
  type SealedColumn,
  sealedColumns,
  type SealedValue,
  valuesOf,
  windowAfter
} from "../store/SealedValues.ts"
import { stampCanary, stampedKeys, stampResealed } from "../store/ServiceStamp.ts"
import { plural } from "../../machines/shared/Text.ts"

export interface ResealPace {
  /** The pause between two batches, which leaves the database to other work, ms. */
  readonly pauseMillis: number
  /** How long after a rotation a statement may still write values of the older key. */
  readonly settleMillis: number
}

/**
 * The default pace. `settleMillis` after a rotation no SQL statement can still write a value of the older key: it ends within 30 s
 * (statement_timeout), and its content is sealed shortly before it.
 */
const defaultPace: ResealPace = { pauseMillis: 20, settleMillis: 45_000 }

export interface ResealOptions {
  readonly databaseUrl: Redacted.Redacted
  /** The name of this process in the writer row. Values are replaced only while that row names it. */
  readonly owner: string
  readonly pace?: ResealPace
}

/** The most rows of one window; the most rows and bytes that one replacement writes. */
const windowRows = 1_000
const batchRows = 100
const batchBytes = 2 * 1024 * 1024
/** The pause between two passes, ms, in which commands release the locks that made rows be skipped. */
const betweenPasses = 100
/** The pause between two attempts while the database is away. */
const tryAgain = "15 seconds"

/** The attribution of the service itself, for work without a request. */
const byService: Attribution = {
  role: "SYSTEM",
  keyLabel: "encryption",
  requestId: "reseal",
  actor: "system:encryption"
}

export const ResealWorker = {
  layer: (options: ResealOptions) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const rotation = yield* KeyRotation
        const sealing = yield* SealingService
        const pace = options.pace ?? defaultPace
        const connection = layerDatabasePool({
          url: options.databaseUrl,
          maxConnections: 1,
          applicationName: "brokerage-reseal"
        })
        const work = Effect.provide(resealAll({ rotation, sealing, pace, owner: options.owner }), connection, {
          local: true
        })
        const persist = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A> =>
          effect.pipe(
            Effect.catchCause((cause) =>
              Effect.logWarning(
                `values could not be sealed with the current key; the service tries again: ${describeFailure(Cause.squash(cause))}`
              ).pipe(Effect.andThen(Effect.sleep(tryAgain)), Effect.andThen(Effect.suspend(() => persist(effect))))
            )
          )
        const start = Effect.provide(takeUpKeys(rotation, sealing), connection, { local: true })
        yield* persist(start).pipe(
          Effect.andThen(Effect.forever(Effect.andThen(rotation.resealingWanted, persist(work)))),
          Effect.forkScoped
        )
      })
    )
}

/** At start: adds keys that are stored but not in the audit, and resumes an interrupted reseal. */
const takeUpKeys = (rotation: KeyRotation["Service"], sealing: Sealing) =>
  Effect.gen(function* () {
    const stamp = yield* stampedKeys
    if (stamp === null) return
    const current = sealing.current()
    if (stamp.canaryKey !== current) {
      yield* rotation.note(byService, "encryption.adopt", stamp.canaryKey, current)
      yield* stampCanary(sealing)
    }
    if (stamp.resealedKey !== current) rotation.beginResealing()
  })

interface Resealing {
  readonly rotation: KeyRotation["Service"]
  readonly sealing: Sealing
  readonly pace: ResealPace
  readonly owner: string
}

/** Runs passes until one finds no value; then records it in the stamp. */
const resealAll = (resealing: Resealing) =>
  Effect.gen(function* () {
    const { rotation, sealing, pace } = resealing
    const number = sealing.current()
    let moved = 0
    let audited = false
    while (true) {
      const wait = rotation.rotatedAt() + pace.settleMillis - (yield* Clock.currentTimeMillis)
      const pass = yield* onePass(resealing)
      moved += pass.moved
      if (pass.moved === 0 && pass.skipped === 0 && wait <= 0) {
        if (audited || (moved === 0 && rotation.rotatedAt() === 0)) {
          if (pass.unreadable > 0)
            yield* Effect.logError(
              `no key opens ${plural(pass.unreadable, "sealed value")}, which the pass leaves unchanged: encryption show counts them`
            )
          break
        }
        // The journal writes commits in order. Once this commit is done, every batch that was sealed before the rotation is
        // committed too.
        yield* rotation.note(byService, "encryption.resealed", null, number)
        audited = true
        continue
      }
      yield* Effect.sleep(pass.moved > 0 || pass.skipped > 0 ? betweenPasses : Math.max(wait, 0))
    }
    yield* stampResealed(number)
    if (moved > 0) yield* Effect.logInfo(`sealed again with key ${number}: ${plural(moved, "value")}`)
    rotation.endResealing()
  })

/** The results of one pass: values sealed again, left for the next pass, and not opened by any key. */
interface Pass {
  moved: number
  skipped: number
  unreadable: number
}

const onePass = (resealing: Resealing) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const pass: Pass = { moved: 0, skipped: 0, unreadable: 0 }
    for (const column of sealedColumns) {
      let after: RowKey | null = null
      while (true) {
        const window: ReadonlyArray<SealedAt> = yield* windowAfter(sql, column, after, windowRows)
        const stale = window.filter(({ number }) => number !== 0 && number !== resealing.sealing.current())
        for (const batch of batchesOf(stale)) {
          yield* oneBatch(resealing, sql, column, batch, pass)
          passPausePoint("values-resealed")
          yield* Effect.sleep(resealing.pace.pauseMillis)
        }
        after = window.at(-1)?.key ?? null
        if (after === null || window.length < windowRows) break
      }
    }
    return pass
  })

const oneBatch = (
  { sealing, owner }: Resealing,
  sql: PgClient.PgClient,
  column: SealedColumn,
  batch: ReadonlyArray<SealedAt>,
  pass: Pass
) =>
  Effect.gen(function* () {
    const values = yield* valuesOf(sql, column, batch)
    const replacements = values.flatMap((value) => replacementOf(sealing, column, value) ?? [])
    const moved = yield* replaceValues(sql, column, replacements, owner)
    pass.moved += moved
    pass.unreadable += values.length - replacements.length
    pass.skipped += replacements.length - moved
  })

/** The value sealed again; null if it does not open. Such a value stays as it is, and is reported at the end. */
const replacementOf = (sealing: Sealing, { place }: SealedColumn, { key, sealed }: SealedValue): Replacement | null => {
  try {
    return { key, was: sealed, sealed: sealing.reseal(sealed, place) }
  } catch {
    return null
  }
}

/** Cuts batches by rows and by bytes; a value larger than the byte limit is alone. */
export const batchesOf = (values: ReadonlyArray<SealedAt>): ReadonlyArray<ReadonlyArray<SealedAt>> => {
  const batches: Array<Array<SealedAt>> = []
  let bytes = 0
  for (const value of values) {
    const last = batches.at(-1)
    if (last === undefined || last.length === batchRows || bytes + value.size > batchBytes) {
      batches.push([value])
      bytes = value.size
    } else {
      last.push(value)
      bytes += value.size
    }
  }
  return batches
}
