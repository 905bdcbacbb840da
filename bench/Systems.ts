/**
 * The systems under test: the service, and two reference services on the same PostgreSQL server with the same
 * certificate. Each slice runs one system while the others wait, and ends with a check of that system's books.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { checkReferenceBooks, checkServiceBooks } from "./books.ts"
import { Child } from "./child.ts"
import type { Slice, SliceResult } from "./load/protocol.ts"
import { measureSlice, type Used } from "./measureSlice.ts"
import { makeReferenceDatabase, onDatabase } from "./reference/database.ts"
import type { ServeQuestion, Style } from "./reference/protocol.ts"
import { postmasterPid, type RunningService } from "./service.ts"
import type { BenchPartner } from "./setup.ts"

/** A slice with the processor time that each system used per acknowledged request, microseconds. */
export type Measured = SliceResult & Used

interface Reference {
  readonly style: Style
  readonly child: Child<ServeQuestion, { readonly port: number }>
  readonly port: number
  readonly databaseUrl: string
  acknowledged: number
}

/**
 * The number of slices of this run. References of requests begin with the slice's number, so that no reference repeats
 * in the data directory.
 */
let slices = 0

export interface SystemsOptions {
  readonly dataDirectory: string
  readonly service: RunningService
  readonly partner: BenchPartner
  readonly clientIds: ReadonlyArray<number>
  /** Reports that an earlier start of the service acknowledged. */
  readonly acknowledged?: number
}

export class Systems {
  /** Cores that programs outside of the benchmark kept busy, by slice: a high number reveals a disturbed run. */
  readonly otherCores: Array<number> = []
  private readonly load = new Child<Slice, SliceResult>("load/main.ts")
  private readonly references = new Map<Style, Reference>()
  private readonly options: SystemsOptions
  private serviceAcknowledged = 0

  constructor(options: SystemsOptions) {
    this.options = options
    this.serviceAcknowledged = options.acknowledged ?? 0
  }

  /** Copies the service's database for each reference service, and starts the reference services. */
  async startReferences(): Promise<void> {
    const { service, dataDirectory } = this.options
    const tls = join(dataDirectory, "tls")
    for (const style of ["typical", "tuned"] as const) {
      const databaseUrl = await makeReferenceDatabase(service.databaseUrl, `reference_${style}`)
      const child = new Child<ServeQuestion, { readonly port: number }>("reference/server.ts")
      const { port } = await child.ask({
        style,
        databaseUrl,
        certificate: readFileSync(join(tls, "server.pem"), "utf8"),
        key: readFileSync(join(tls, "server.key"), "utf8")
      })
      this.references.set(style, { style, child, port, databaseUrl, acknowledged: 0 })
    }
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

  /** Runs one slice against a reference service. After a report slice it checks the reference's books. */
  async runReference(style: Style, kind: Slice["kind"], connections: number, millis: number): Promise<Measured> {
    const reference = this.references.get(style) as Reference
    const measured = await this.run(reference, reference.child.pid, kind, connections, millis)
    if (kind === "collateral") {
      reference.acknowledged += measured.acknowledged
      await checkReferenceBooks(`the ${style} reference`, reference.databaseUrl, reference.acknowledged)
    }
    return measured
  }

  /**
   * Sizes of the batches of the reports that were booked after the report `after`, ascending. One batch is one
   * transaction.
   */
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

  /** The number of reports that the service has acknowledged so far, for a run that continues after a restart. */
  get acknowledged(): number {
    return this.serviceAcknowledged
  }

  async stopReferences(): Promise<void> {
    for (const reference of this.references.values()) await reference.child.stop()
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
        tag: `s${++slices}`
      })
    )
    this.otherCores.push(otherCores)
    return measured
  }
}
