/**
 * The systems under test, side by side: the service, the two reference services on the same PostgreSQL server with the
 * same certificate, and plain SQL. Each slice runs one of them while the others wait, and ends with its books checked.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { checkReferenceBooks, checkServiceBooks } from "./books.ts"
import { Child } from "./child.ts"
import type { Slice, SliceResult } from "./load/protocol.ts"
import { measureSlice, type Used } from "./measureSlice.ts"
import { makeReferenceDatabase, onDatabase } from "./reference/database.ts"
import type { PlainSqlResult, ReferenceAnswer, ReferenceQuestion, Style } from "./reference/protocol.ts"
import { postmasterPid, type RunningService } from "./service.ts"
import type { BenchPartner } from "./setup.ts"

/** A slice with what each side used per acknowledged request, in microseconds of processor time. */
export type Measured = SliceResult & Used

interface Reference {
  readonly style: Style
  readonly child: Child<ReferenceQuestion, ReferenceAnswer>
  readonly port: number
  readonly databaseUrl: string
  acknowledged: number
}

export interface SystemsOptions {
  readonly dataDirectory: string
  readonly service: RunningService
  readonly partner: BenchPartner
  readonly clientIds: ReadonlyArray<number>
  /** Reports acknowledged before, by an earlier start of the service. */
  readonly acknowledged?: number
}

export class Systems {
  /** Cores that programs outside of the benchmark kept busy, slice by slice: a disturbed run shows here. */
  readonly otherCores: Array<number> = []
  private readonly load = new Child<Slice, SliceResult>("load/main.ts")
  private readonly references = new Map<Style, Reference>()
  private readonly plain = new Child<ReferenceQuestion, ReferenceAnswer>("reference/main.ts")
  private readonly options: SystemsOptions
  private plainUrl = ""
  private plainAcknowledged = 0
  private serviceAcknowledged = 0
  private sliceNumber = 0

  constructor(options: SystemsOptions) {
    this.options = options
    this.serviceAcknowledged = options.acknowledged ?? 0
  }

  /** Makes the reference databases from the service's and starts the reference services. */
  async startReferences(): Promise<void> {
    const { service, dataDirectory } = this.options
    const tls = join(dataDirectory, "tls")
    for (const style of ["typical", "tuned"] as const) {
      const databaseUrl = await makeReferenceDatabase(service.databaseUrl, `reference_${style}`)
      const child = new Child<ReferenceQuestion, ReferenceAnswer>("reference/main.ts")
      const answer = await child.ask({
        kind: "serve",
        style,
        databaseUrl,
        certificate: readFileSync(join(tls, "server.pem"), "utf8"),
        key: readFileSync(join(tls, "server.key"), "utf8")
      })
      const { port } = answer as { readonly port: number }
      this.references.set(style, { style, child, port, databaseUrl, acknowledged: 0 })
    }
    this.plainUrl = await makeReferenceDatabase(service.databaseUrl, "reference_plain")
  }

  /** One slice against the service; a report slice ends with `ledger verify`. */
  async runService(kind: Slice["kind"], connections: number, millis: number): Promise<Measured> {
    const { service } = this.options
    const measured = await this.run(service, service.pid, kind, connections, millis)
    if (kind === "collateral") {
      this.serviceAcknowledged += measured.acknowledged
      await checkServiceBooks(service.databaseUrl, this.serviceAcknowledged)
    }
    return measured
  }

  /** One slice against a reference service, its books checked after reports. */
  async runReference(style: Style, kind: Slice["kind"], connections: number, millis: number): Promise<Measured> {
    const reference = this.references.get(style) as Reference
    const measured = await this.run(reference, reference.child.pid, kind, connections, millis)
    if (kind === "collateral") {
      reference.acknowledged += measured.acknowledged
      await checkReferenceBooks(`the ${style} reference`, reference.databaseUrl, reference.acknowledged)
    }
    return measured
  }

  /** One window of plain SQL, its books checked after. */
  async runPlainSql(concurrency: number, millis: number): Promise<PlainSqlResult> {
    const result = (await this.plain.ask({
      kind: "plainSql",
      databaseUrl: this.plainUrl,
      concurrency,
      millis,
      clientIds: this.options.clientIds,
      tag: `plain${++this.sliceNumber}`
    })) as PlainSqlResult
    this.plainAcknowledged += result.acknowledged
    await checkReferenceBooks("plain SQL", this.plainUrl, this.plainAcknowledged)
    return result
  }

  /** Sizes of the batches of the reports booked since report `after`, ascending: one batch is one transaction. */
  batchSizesSince(after: number): Promise<ReadonlyArray<number>> {
    return onDatabase(this.options.service.databaseUrl, async (client) => {
      const { rows } = await client.query<{ readonly n: string }>(
        "SELECT count(*) AS n FROM collateral_reports WHERE id > $1 GROUP BY xmin::text ORDER BY n",
        [after]
      )
      return rows.map((row) => Number(row.n))
    })
  }

  /** Id of the newest report of the service. */
  lastReport(): Promise<number> {
    return onDatabase(this.options.service.databaseUrl, async (client) => {
      const { rows } = await client.query<{ readonly id: string }>(
        "SELECT coalesce(max(id), 0) AS id FROM collateral_reports"
      )
      return Number(rows[0]?.id)
    })
  }

  /** The service's acknowledged reports so far, for whoever goes on after a restart. */
  get acknowledged(): number {
    return this.serviceAcknowledged
  }

  async stopReferences(): Promise<void> {
    for (const reference of this.references.values()) await reference.child.stop()
    await this.plain.stop()
  }

  async stop(): Promise<void> {
    await this.stopReferences()
    await this.load.stop()
  }

  private async run(
    target: { readonly port: number },
    pid: number,
    kind: Slice["kind"],
    connections: number,
    millis: number
  ): Promise<Measured> {
    const { service, partner, clientIds, dataDirectory } = this.options
    const processes = { app: pid, postmaster: postmasterPid(dataDirectory), generator: this.load.pid }
    const { measured, otherCores } = await measureSlice(processes, () =>
      this.load.ask({
        port: target.port,
        ca: service.ca,
        partnerKey: partner.partnerKey,
        kind,
        clientIds,
        connections,
        millis,
        tag: `s${++this.sliceNumber}`
      })
    )
    this.otherCores.push(otherCores)
    return measured
  }
}
