/**
 * Checks screening: one pass runs at a time and only advances, a hit of a pass freezes the client, an import ends with
 * the entries of its version, and at the end every listed client has been found (F26; D1; A3-10).
 */
import type { ListedPerson } from "../../src/machines/screening/ListedPerson.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { ScreeningPassRow } from "../../src/runtime/tables/screening.ts"
import { importedSource } from "./ComplianceDesk.ts"
import type { Findings } from "./Findings.ts"

const lineOf = ({ list, name, dob }: Pick<ListedPerson, "list" | "name" | "dob">): string => `${list} ${name} ${dob}`
const distinct = (lines: ReadonlyArray<string>): string => [...new Set(lines)].toSorted().join("; ")

export class ScreeningAudit {
  private readonly findings: Findings
  private readonly store: MemoryStore
  private readonly passes = new Map<number, ScreeningPassRow>()
  private readonly versions = new Map<string, string>()

  constructor(findings: Findings, store: MemoryStore) {
    this.findings = findings
    this.store = store
  }

  /** Records the entries of a version before its import. */
  announce(version: string, people: ReadonlyArray<ListedPerson>): void {
    this.versions.set(version, distinct(people.map(lineOf)))
  }

  take({ rows }: Commit): void {
    for (const row of rows.screeningPasses ?? []) this.checkPass(row)
    const running = [...this.passes.values()].filter(({ state }) => state === "RUNNING").map(({ id }) => id)
    this.findings.expect(running.length <= 1, "screening", () => `passes ${running.join(", ")} run at once`)
    const found = (rows.screeningRuns ?? []).some(({ passId }) => passId !== null)
    for (const { id, clientId, state, context } of found ? (rows.cases ?? []) : []) {
      const client = (rows.clients ?? []).find((row) => row.id === clientId)
      this.findings.expect(
        state !== "OPEN" ||
          context.reason !== "SCREENING_HIT" ||
          client === undefined ||
          client.context.restrictions.includes("FROZEN"),
        "screening",
        () => `a pass opens case ${id} over a hit, and client ${clientId} is not frozen`
      )
    }
    for (const { sourceVersion, state } of rows.watchImports ?? [])
      if (state === "DONE") this.checkImport(sourceVersion)
  }

  private checkPass(row: ScreeningPassRow): void {
    const before = this.passes.get(row.id)
    this.findings.expect(
      before === undefined || (before.state === "RUNNING" && row.context.after >= before.context.after),
      "screening",
      () =>
        `pass ${row.id} goes from ${before?.state} at ${before?.context.after} to ${row.state} at ${row.context.after}`
    )
    this.passes.set(row.id, row)
  }

  private checkImport(version: string): void {
    const live = this.store
      .rows("watchEntries")
      .filter(({ source, removedAt }) => source === importedSource && removedAt === null)
    const [is, named] = [distinct(live.map(lineOf)), this.versions.get(version)]
    this.findings.expect(
      is === named,
      "lists",
      () => `version ${version} is done: the list has ${is}, it names ${named}`
    )
  }

  /** Checks after an end-of-day run that every listed client has been found. */
  checkFound(): void {
    const { store } = this
    const live = store.rows("watchEntries").filter(({ removedAt }) => removedAt === null)
    const clients = new Map(store.rows("clients").map((row) => [row.id, row]))
    const rejected = new Set(
      store.rows("kycPackages").flatMap((row) => (row.state === "REJECTED" ? [row.clientId] : []))
    )
    const shown = new Set(
      store
        .rows("cases")
        .flatMap(({ clientId, details }) =>
          ((details as { readonly candidates?: ReadonlyArray<{ readonly entryId: number }> }).candidates ?? []).map(
            ({ entryId }) => `${clientId} ${entryId}`
          )
        )
    )
    for (const { clientId, code, data } of store.rows("blockPayloads")) {
      const client = clients.get(clientId)
      if (code !== "PERSONAL_INFO" || client === undefined || rejected.has(clientId)) continue
      if (client.state === "CLOSED" || client.state === "KYC_REJECTED") continue
      const { first_name, last_name, date_of_birth } = data as Readonly<Record<string, string>>
      for (const { id, name, dob } of live) {
        const isListed = name === `${first_name} ${last_name}` && dob === date_of_birth
        this.findings.expect(
          !isListed || shown.has(`${clientId} ${id}`),
          "screening",
          () => `client ${clientId} is on the list as entry ${id}, and no case has ever shown it`
        )
      }
    }
  }
}
