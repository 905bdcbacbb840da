/**
 * The work of an end-of-day run for one client in a simulation (STS-29). The real worker calls it, over the memory
 * store. SQL reads the contents of a real statement, so tests over Postgres check them. Here a statement lists the
 * executions booked in the day of the run.
 */
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { periodOfJob } from "../../src/machines/statement/statementJobs.ts"
import { Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { newestVersion } from "../../src/runtime/services/statements/fileStatement.ts"
import { type JobPart, nothingOf } from "../../src/runtime/services/statements/jobs/jobBuild.ts"
import { JobWork } from "../../src/runtime/services/statements/jobs/JobWork.ts"
import { statementOf } from "../../src/runtime/services/statements/Statements.ts"
import type { StatementJobRow } from "../../src/runtime/tables/statementJob.ts"

/** Clients of a page: few, so that each end-of-day run has several pages. */
const pageOfClients = 2

export interface NightWorkOptions {
  readonly store: MemoryStore
  /** True while the store can't be reached. */
  readonly away: () => boolean
  /** The duration of a read, ms. */
  readonly jitter: () => number
}

interface Execution {
  readonly clientId: number
  readonly name: string
}

/** True for postings that are executions without a fill. */
const isExecution = ({ type, key }: { readonly type: string; readonly key: string }): boolean =>
  ["BARRIER_SETTLE", "SWAP_PRINCIPAL", "SWAP_SETTLE"].includes(type) || key.startsWith("commission:contract:")

const executionsOf = (store: MemoryStore, { periodFrom, periodTo }: StatementJobRow): ReadonlyArray<Execution> => {
  const isBooked = (at: number): boolean => at >= periodFrom && at < periodTo
  return [
    ...store
      .rows("fills")
      .flatMap(({ id, clientId, bookedAt }) => (isBooked(bookedAt) ? [{ clientId, name: `fill ${id}` }] : [])),
    ...store
      .rows("ledgerTransactions")
      .flatMap(({ txId, clientId, ts, ...row }) =>
        clientId !== null && isBooked(ts) && isExecution(row) ? [{ clientId, name: `transaction ${txId}` }] : []
      )
  ]
}

export const layerNightWork = ({ store, away, jitter }: NightWorkOptions): Layer.Layer<JobWork, never, RowReads> =>
  Layer.effect(
    JobWork,
    Effect.gen(function* () {
      const stored = yield* RowReads
      const executions = (job: StatementJobRow): Effect.Effect<ReadonlyArray<Execution>, Unavailable> =>
        Effect.andThen(
          Effect.suspend(() => Effect.sleep(jitter())),
          Effect.suspend(() =>
            away() ? Effect.fail(new Unavailable({ unknown: false })) : Effect.succeed(executionsOf(store, job))
          )
        )
      const part = (job: StatementJobRow, clientId: number): Effect.Effect<ReadonlyArray<JobPart>, Unavailable> =>
        Effect.gen(function* () {
          const [client] = yield* stored.among("clients", [clientId])
          if (client === undefined) return []
          const period = periodOfJob({ name: job.name, from: job.periodFrom, to: job.periodTo })
          const nothing = nothingOf(clientId, client.partnerId)
          if ((yield* newestVersion(stored, clientId, period)) !== null) return [nothing]
          const own = (yield* executions(job)).filter((each) => each.clientId === clientId)
          const said = own.map(({ name }) => name).join("\n")
          const model = { modelId: 1, sha256: createHash("sha256").update(said).digest("hex"), rows: own.length }
          // The first line of the facts belongs to statements on request: it is the last posting known at the request.
          const filing = { client: statementOf(client), period, model, fingerprint: `0\n${said}` }
          return [{ ...nothing, statement: { filing, before: null } }]
        })
      return JobWork.of({
        isValued: () => true,
        next: (job) =>
          job.name === "TRANSACTIONS"
            ? Effect.map(executions(job), (found) => {
                const ids = new Set(found.map(({ clientId }) => clientId).filter((id) => id > job.cursor))
                const sorted = [...ids].toSorted((one, other) => one - other)
                return { clientIds: sorted.slice(0, pageOfClients), isLast: sorted.length <= pageOfClients }
              })
            : Effect.succeed({ clientIds: [], isLast: true }),
        make: (job, clientIds) =>
          Effect.map(
            Effect.forEach(clientIds, (id) => part(job, id)),
            (parts) => parts.flat()
          )
      })
    })
  )
