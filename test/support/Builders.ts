/**
 * Builds bodies of invented persons, collateral reports and operator decisions for scenario and guarantee tests, and
 * reads stored rows of a running service with sealed values opened, for facts that no route shows.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, vi } from "@effect/vitest"
import { Effect } from "effect"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { systemSubject } from "../../src/runtime/services/shared/OperatorCaller.ts"
import { columnList, decodeRow } from "../../src/runtime/engine/journal/SubjectLoader.ts"
import { Timers } from "../../src/runtime/engine/timers/Timers.ts"
import { verifyLedger } from "../../src/runtime/ledger/verify.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import {
  type WatchEntryBody,
  type WatchEntryView,
  WatchLists
} from "../../src/runtime/services/screening/WatchLists.ts"
import { catalogue, type TableName, tableNames, type Tables } from "../../src/runtime/tables/Catalogue.ts"
import type { TableSpec } from "../../src/runtime/tables/Table.ts"
import { ScreeningPasses } from "../../src/runtime/services/clients/screening/ScreeningPasses.ts"
import { type Answer, operator, type Service } from "./Service.ts"

export const dayMillis = 86_400_000

/** The rows of a query; bigint columns are bigints. */
export const query = <Row extends object = Record<string, unknown>>(
  service: Service,
  text: string,
  values: ReadonlyArray<string | bigint> = []
): Promise<ReadonlyArray<Row>> => service.run(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<Row>(text, values)))

/** Rows of a table as the service reads them: typed, with sealed values opened; oldest first. */
export const rowsOf = async <T extends TableName>(
  service: Service,
  table: T,
  where = "true",
  values: ReadonlyArray<string | bigint> = []
): Promise<ReadonlyArray<Tables[T]>> => {
  const spec = catalogue[table] as unknown as TableSpec
  const order = spec.key.map((name) => `"${spec.columns.find((column) => column.name === name)?.sqlName}"`).join(", ")
  const raw = await query(
    service,
    `SELECT ${columnList(spec)} FROM ${spec.sqlName} WHERE ${where} ORDER BY ${order}`,
    values
  )
  return raw.map((row) => decodeRow(spec, row, service.database.sealing) as Tables[T])
}

/** The rows of a client in a table. */
export const ofClient = <T extends TableName>(service: Service, table: T, clientId: number) =>
  rowsOf(service, table, "client_id = $1", [BigInt(clientId)])

/**
 * Tables into which the service writes at any time without a request: daily jobs, and the venue's last listing and
 * marks.
 */
const ownTables: ReadonlySet<string> = new Set([
  "statementJobs",
  "statementJobFailures",
  "dailyEquities",
  "dailyMarks",
  "lastListings",
  "lastMarks"
])

/** The number of rows in each table, to prove that a refusal wrote nothing. The service's own rows do not count. */
export const rowCounts = async (service: Service): Promise<Readonly<Record<string, number>>> => {
  const text = tableNames
    .filter((name) => !ownTables.has(name))
    .map((name) => `SELECT '${name}' AS name, count(*) AS n FROM ${catalogue[name].sqlName}`)
    .concat(
      "SELECT 'claims' AS name, count(*) AS n FROM claims WHERE name NOT LIKE 'statementJob:%'",
      "SELECT 'subjects', count(*) FROM subjects"
    )
    .join(" UNION ALL ")
  const rows = await query<{ readonly name: string; readonly n: bigint }>(service, text)
  return Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]))
}

/** The sentences of the broken invariants: of the ledger, the event numbers and the audit chain. */
export const brokenInvariants = async (service: Service): Promise<ReadonlyArray<string>> => {
  const report = await service.run(verifyLedger)
  return report.checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.detail}`)
}

/** A copy of the value with some members replaced: the paths are dotted, and undefined removes the member. */
export const withPaths = <A extends object>(value: A, paths: Readonly<Record<string, unknown>>): A => {
  const copy = structuredClone(value)
  for (const [path, replacement] of Object.entries(paths)) {
    const names = path.split(".")
    const last = names.pop() as string
    const owner = names.reduce((at, name) => at[name] as Record<string, unknown>, copy as Record<string, unknown>)
    if (replacement === undefined) delete owner[last]
    else owner[last] = replacement
  }
  return copy
}

/** A valid body of POST /clients with some paths replaced. `tag` keeps the persons of different files apart. */
export const person = (n: number, tag: string, paths: Readonly<Record<string, unknown>> = {}) =>
  withPaths(sampleOnboarding(n, tag, Date.now()), paths)

/** The paths of `person` for a name and a birth date. */
export const named = (first: string, last: string, born: string) => ({
  "kyc.personalInfo.first_name": first,
  "kyc.personalInfo.last_name": last,
  "kyc.personalInfo.date_of_birth": born
})

/** A listed person: the watch-list entry, and the paths that make a `person` match it. */
export const orlenko = {
  entry: { name: "Viktor Orlenko", dob: "1970-03-04", list: "SANCTIONS" },
  paths: named("Viktor", "Orlenko", "1970-03-04")
} as const

/** The body of the 502 for a call that the venue never received. `data`: the ids and the state of the object. */
export const notReached = (data: object) => {
  const msg = "The venue was not reached: nothing was executed."
  return { code: 5020, msg, error: msg, data: { reason: "VENUE_NOT_REACHED", ...data } }
}

export const onboard = (service: Service, key: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  service.call("POST", "/partner/v1/clients", { key, body, headers })

export const get = (service: Service, key: string, path: string): Promise<Answer> =>
  service.call("GET", `/partner/v1${path}`, { key })

export const collateral = (
  service: Service,
  key: string,
  clientId: number,
  body: object,
  headers: Readonly<Record<string, string>> = {}
): Promise<Answer> => service.call("POST", `/partner/v1/clients/${clientId}/collateral`, { key, body, headers })

/** Runs a compliance decision; throws its refusal. */
export const comply = async (
  service: Service,
  decide: (compliance: Compliance["Service"]) => ReturnType<Compliance["Service"]["clear"]>
): Promise<void> => {
  const verdict = await service.run(Effect.provide(Effect.flatMap(Compliance, decide), Compliance.layer))
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
}

/** Adds a watch-list entry as an import does: it applies at once, and no pass screens the stored clients against it. */
export const watch = (service: Service, { name, dob, country, list }: WatchEntryBody) =>
  service.run(
    Effect.flatMap(ActorHost, (host) =>
      host.dispatch({
        subject: systemSubject,
        by: operator.by,
        decide: (turn) => {
          const id = turn.nextId("watchEntry")
          const known = { dob: dob ?? null, country: country ?? null }
          turn.draft.put("watchEntries", {
            id,
            list,
            name,
            ...known,
            source: "TEST",
            addedAt: turn.now,
            removedAt: null,
            importId: 1
          })
          return { entryId: id }
        }
      })
    )
  )

/** Adds a watch-list entry as an operator does, and waits until the stored clients have been screened against it. */
export const watchAll = async (service: Service, entry: WatchEntryBody): Promise<WatchEntryView> => {
  const added = await service.run(
    Effect.provide(
      Effect.flatMap(WatchLists, (lists) => lists.add(operator, entry)),
      WatchLists.layer
    )
  )
  await passesDone(service)
  return added
}

/** Waits until all stored clients have been screened against the present entries. */
export const passesDone = async (service: Service): Promise<void> => {
  const entry = await service.run(Effect.map(ScreeningPasses, (passes) => passes.lastEntry()))
  await vi.waitFor(
    async () => {
      const passes = await rowsOf(service, "screeningPasses")
      const isDone = passes.some((row) => row.state === "DONE" && row.context.toEntry >= entry)
      const isIdle = passes.length === 0 && (await rowsOf(service, "clients")).length === 0
      assert.isTrue(isIdle || (isDone && passes.every(({ state }) => state !== "RUNNING")))
    },
    { timeout: 20_000, interval: 10 }
  )
}

/** Runs an operator command on partners. */
export const partners = <A, E>(
  service: Service,
  decide: (partners: Partners["Service"]) => Effect.Effect<A, E>
): Promise<A> => service.run(Effect.flatMap(Partners, decide))

/** Advances business time and fires the timers that become due. */
export const advance = (service: Service, millis: number): Promise<number> =>
  service.run(
    Effect.gen(function* () {
      const clock = yield* BusinessClock
      clock.setOffset(clock.offset() + millis)
      return yield* (yield* Timers).fireDue
    })
  )
