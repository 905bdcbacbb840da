/**
 * Rotates the encryption key while the service runs. The next key is durable in the key file before it seals a value,
 * so no crash leaves an unreadable value. The order is: file, audit, canary, first use. A crash may leave a key in the
 * file that is not in use; the next rotation or the next start uses it. Values sealed with older keys are then sealed
 * again in the background (ResealWorker). Another rotation waits until that has ended.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Latch, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { accept, conflict, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { ActorHost, type Attribution, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { currentDryRun } from "../../../engine/mailbox/dryRun.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { KeyStore } from "../../../ports/KeyStore.ts"
import { passPausePoint } from "../../../engine/PausePoints.ts"
import { lastKeyNumber, makeSealing, SealingError, type SealingKeys } from "../../../engine/sealing/Sealing.ts"
import { inTurn } from "../../../engine/withinTime.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { countByKey, sealedColumns } from "../../../store/SealedValues.ts"
import { stampCanary } from "../../../store/ServiceStamp.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { whenAway, whenUnsure } from "../../../store/whenAway.ts"

export interface EncryptionView {
  /** Number of the key that new values are sealed with. */
  readonly current: number
  readonly keys: ReadonlyArray<{ readonly number: number; readonly sealedValues: number }>
  /**
   * `running`: values are being resealed, or the final check is not done. `remaining`: values that are sealed with older
   * keys.
   */
  readonly resealing: { readonly running: boolean; readonly remaining: number }
}

export interface Rotated {
  readonly previous: number
  readonly current: number
}

export class KeyRotation extends Context.Service<
  KeyRotation,
  {
    rotate(caller: OperatorCaller): Effect.Effect<Verdict<Rotated>, DispatchError>
    /** Counts every sealed value, which is slow on a large database. One caller at a time. */
    readonly show: Effect.Effect<EncryptionView, Unavailable>
    /** Requests a pass over all sealed values, which seals those of older keys again. */
    readonly beginResealing: () => void
    /** Waits until a pass over all values is requested. */
    readonly resealingWanted: Effect.Effect<void>
    readonly endResealing: () => void
    /** The time at which this process began to seal with another key (wall clock, Unix ms); 0: it has not rotated. */
    readonly rotatedAt: () => number
    /** Writes an audit row with key numbers, never with keys. */
    note(by: Attribution, action: string, before: number | null, after: number): Effect.Effect<void, DispatchError>
  }
>()("brokerage/runtime/services/operations/operator/KeyRotation") {
  /** `keyStore`: null if another system keeps the keys, so that this service can't rotate them. */
  static readonly layer = (keyStore: KeyStore | null) =>
    Layer.effect(
      KeyRotation,
      Effect.gen(function* () {
        const host = yield* ActorHost
        const sealing = yield* SealingService
        const sql = yield* PgClient.PgClient
        const oneRotation = yield* Semaphore.make(1)
        const oneCount = yield* Semaphore.make(1)
        const wanted = yield* Latch.make(false)
        let running = false
        let rotatedAt = 0

        const begin = (): void => {
          running = true
          wanted.openUnsafe()
        }
        const note = (by: Attribution, action: string, before: number | null, after: number) =>
          host.dispatch({
            subject: systemSubject,
            by,
            decide: (turn) =>
              applyEffects(turn, systemInstance, [
                {
                  type: "audit",
                  action,
                  before: before === null ? null : `key ${before}`,
                  after: `key ${after}`,
                  reason: null
                }
              ])
          })

        /** The keys in the key file. Refused if the file lacks a key that the service uses. */
        const filed = (store: KeyStore): Verdict<SealingKeys> => {
          try {
            const found = store.read()
            const lost = sealing.numbers().find((number) => !found.keys.has(number))
            if (lost !== undefined) return refuse(fileLacks(lost))
            sealing.learn(found)
            return accept(found)
          } catch (error) {
            if (error instanceof SealingError) return refuse(fileUnusable)
            throw error
          }
        }

        const rotate = (caller: OperatorCaller, store: KeyStore): Effect.Effect<Verdict<Rotated>, DispatchError> =>
          Effect.gen(function* () {
            if (running) return refuse(stillResealing)
            const previous = sealing.current()
            const before = yield* Effect.sync(() => filed(store))
            if (!before.ok) return before
            // The file may already have a key that is not in use: an interrupted rotation has left it, and this rotation
            // uses it.
            const left = before.value.current > previous
            const current = left ? before.value.current : previous + 1
            if (current > lastKeyNumber) return refuse(keysUsedUp)
            if (currentDryRun() !== null) {
              yield* note(caller.by, "encryption.rotate", previous, current)
              return accept({ previous, current })
            }
            const keys = left ? before.value : yield* Effect.sync(() => withNewKey(store, current))
            if (keys === null) return refuse(fileNotWritten)
            passPausePoint("key-written")
            yield* note(caller.by, "encryption.rotate", previous, current)
            yield* stampCanary(makeSealing(keys)).pipe(
              Effect.provideService(SqlClient.SqlClient, sql),
              Effect.catch(whenUnsure),
              // The audit already has the rotation. The outcome is therefore unknown, and the operator should check the
              // state before a retry.
              Effect.mapError(() => new Unavailable({ unknown: true }))
            )
            sealing.adopt(keys)
            rotatedAt = yield* Clock.currentTimeMillis
            begin()
            return accept({ previous, current })
          })

        const counted = Effect.forEach(sealedColumns, (column) => countByKey(sql, column)).pipe(
          Effect.map((columns) => {
            const sums = new Map<number, number>()
            for (const [number, n] of columns.flatMap((each) => [...each]))
              sums.set(number, (sums.get(number) ?? 0) + n)
            return sums
          }),
          Effect.catch(whenAway)
        )

        return KeyRotation.of({
          rotate: (caller) =>
            keyStore === null
              ? Effect.succeed(refuse(keptElsewhere))
              : inTurn(oneRotation, Effect.uninterruptible(rotate(caller, keyStore))),
          show: oneCount.withPermits(1)(
            Effect.map(counted, (sums) => {
              const current = sealing.current()
              const numbers = new Set([...sealing.numbers(), ...sums.keys()])
              const keys = [...numbers]
                .toSorted((a, b) => a - b)
                .map((number) => ({ number, sealedValues: sums.get(number) ?? 0 }))
              const remaining = keys.reduce((sum, key) => (key.number === current ? sum : sum + key.sealedValues), 0)
              return { current, keys, resealing: { running, remaining } }
            })
          ),
          beginResealing: begin,
          resealingWanted: wanted.await,
          rotatedAt: () => rotatedAt,
          endResealing: () => {
            running = false
            wanted.closeUnsafe()
          },
          note
        })
      })
    )
}

/** Adds a new key to the store, and returns all keys; null if the write failed. */
const withNewKey = (store: KeyStore, number: number): SealingKeys | null => {
  try {
    store.add(number, randomBytes(32))
    return store.read()
  } catch {
    return null
  }
}

const keptElsewhere = conflict("KEYS_ELSEWHERE", "The keys of this service are not in a key file of its own.")
const stillResealing = conflict(
  "ROTATION_RUNNING",
  "Values are still being sealed again after the last rotation: see brokerage encryption show."
)
const keysUsedUp = conflict(
  "KEYS_USED_UP",
  `All ${lastKeyNumber} key numbers are used up: this database can't be given another key. No key was added.`
)
const fileUnusable = conflict(
  "KEY_FILE_UNUSABLE",
  "encryption.keys is missing or damaged, or its keys are not the ones in use: restore it from its copy first. No key was added."
)
const fileNotWritten = conflict(
  "KEY_FILE_NOT_WRITTEN",
  "encryption.keys could not be written: the present key stays in use."
)
const fileLacks = (number: number) =>
  conflict(
    "KEY_FILE_UNUSABLE",
    `encryption.keys lacks key ${number}, which is in use: restore it from its copy first. No key was added.`
  )
