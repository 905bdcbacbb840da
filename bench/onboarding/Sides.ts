/**
 * The two sides of the onboarding part: the service, and the reference on the same PostgreSQL server with the same
 * certificate. Every slice ends with a count of the stored rows.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { checkServiceBooks } from "../books.ts"
import { Child } from "../child.ts"
import { measureSlice, type Used } from "../measureSlice.ts"
import { makeReferenceDatabase } from "../reference/database.ts"
import { postmasterPid, type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner } from "../setup.ts"
import { storeClients } from "../storedClients.ts"
import { Acknowledged, checkOnboarded } from "./books.ts"
import type {
  OnboardingResult,
  OnboardingServeAnswer,
  OnboardingServeQuestion,
  OnboardingSlice,
  SideName
} from "./protocol.ts"
import { storeWatchList } from "./storedList.ts"

export type Measured = OnboardingResult & Used

type Load = Child<OnboardingSlice, OnboardingResult>
type Reference = Child<OnboardingServeQuestion, OnboardingServeAnswer>

interface Running {
  readonly service: RunningService
  readonly reference: Reference
  readonly referencePort: number
  readonly referenceUrl: string
}

const referenceName = "reference_onboarding"

const urlBeside = (serviceUrl: string, name: string): string => {
  const address = new URL(serviceUrl)
  address.pathname = `/${name}`
  return address.href
}

export class Sides {
  readonly otherCores: Array<number> = []
  private readonly dataDirectory: string
  private readonly load: Load = new Child("onboarding/load.ts")
  private readonly acknowledged = { service: new Acknowledged(), reference: new Acknowledged() }
  /** The clients that are revised, by side. */
  private readonly revised: Record<SideName, ReadonlyArray<number>> = { service: [], reference: [] }
  private partner: BenchPartner = { partnerId: 0, partnerKey: "" }
  private running: Running | null = null
  private sliceNumber = 0

  constructor(dataDirectory: string) {
    this.dataDirectory = dataDirectory
  }

  /** The first start: makes the partner, the reference database, and `clients` clients on both sides. */
  async begin(clients: number): Promise<void> {
    const service = await startService(this.dataDirectory)
    this.partner = await createPartner(service, "ONBOARD")
    await makeReferenceDatabase(service.databaseUrl, referenceName)
    this.running = await this.withReference(service)
    for (const side of ["service", "reference"] as const) {
      const made = await this.run(side, "onboard", 32, 600_000, clients)
      this.revised[side] = made.clientIds
    }
  }

  /** Changes the stored data of both sides between two starts. */
  async restart(between: "clients" | "list", count: number): Promise<void> {
    const { service, referenceUrl } = this.now
    if (between === "list") await storeWatchList(service.databaseUrl, count)
    else {
      await storeClients(service.databaseUrl, this.revised.service[0] as number, count)
      await storeClients(referenceUrl, this.revised.reference[0] as number, count)
    }
    await this.stopRunning()
    this.running = await this.withReference(await startService(this.dataDirectory))
  }

  /** The running service: times and memory of its start. */
  get service(): RunningService {
    return this.now.service
  }

  /** The number of clients that the service has onboarded so far. */
  get onboarded(): number {
    return this.acknowledged.service.clients.size
  }

  /**
   * Runs one slice against one side, then counts the stored rows. `count`: the slice ends after this number of
   * requests.
   */
  async run(
    side: SideName,
    kind: OnboardingSlice["kind"],
    connections: number,
    millis: number,
    count: number | null = null
  ): Promise<Measured> {
    const { service, reference, referencePort } = this.now
    const processes = {
      app: side === "service" ? service.pid : reference.pid,
      postmaster: postmasterPid(this.dataDirectory),
      generator: this.load.pid
    }
    const { measured, otherCores } = await measureSlice(processes, () =>
      this.load.ask({
        port: side === "service" ? service.port : referencePort,
        ca: service.ca,
        partnerKey: this.partner.partnerKey,
        side,
        kind,
        clientIds: this.revised[side],
        connections,
        millis,
        count,
        tag: `on${++this.sliceNumber}`
      })
    )
    this.otherCores.push(otherCores)
    this.acknowledged[side].add(kind, measured)
    await this.check(side)
    return measured
  }

  /** Revises every client once on both sides. Afterwards half of all revisions change the identity. */
  async beginRevisions(): Promise<void> {
    for (const side of ["service", "reference"] as const)
      await this.run(side, "revise", 32, 600_000, this.revised[side].length)
  }

  /** True if the service has the route of the revisions, found by one revision. */
  async canRevise(): Promise<boolean> {
    const { service } = this.now
    const [clientId] = this.revised.service
    const result = await this.load.ask({
      port: service.port,
      ca: service.ca,
      partnerKey: this.partner.partnerKey,
      side: "service",
      kind: "revise",
      clientIds: [clientId as number],
      connections: 1,
      millis: 60_000,
      count: 1,
      tag: "probe"
    })
    if (result.errors === 0) {
      this.acknowledged.service.add("revise", result)
      return true
    }
    if (result.firstError?.startsWith("HTTP/1.1 404") === true) return false
    throw new Error(`a revision failed: ${result.firstError}`)
  }

  /** Runs `ledger verify` on the service: chains and books hold, and onboarding moved no money. */
  verify(): Promise<void> {
    return checkServiceBooks(this.now.service.databaseUrl, 0)
  }

  async stop(): Promise<void> {
    await this.stopRunning()
    await this.load.stop()
  }

  private get now(): Running {
    if (this.running === null) throw new Error("the sides of the onboarding part are not running")
    return this.running
  }

  private check(side: SideName): Promise<void> {
    const { service, referenceUrl } = this.now
    const url = side === "service" ? service.databaseUrl : referenceUrl
    return checkOnboarded(`the ${side}`, url, this.acknowledged[side])
  }

  private async withReference(service: RunningService): Promise<Running> {
    const tls = join(this.dataDirectory, "tls")
    const reference: Reference = new Child("onboarding/reference.ts")
    const referenceUrl = urlBeside(service.databaseUrl, referenceName)
    const { port } = await reference.ask({
      databaseUrl: referenceUrl,
      certificate: readFileSync(join(tls, "server.pem"), "utf8"),
      key: readFileSync(join(tls, "server.key"), "utf8")
    })
    return { service, reference, referencePort: port, referenceUrl }
  }

  private async stopRunning(): Promise<void> {
    const { running } = this
    this.running = null
    await running?.reference.stop()
    await running?.service.stop()
  }
}
