/**
 * The work of partners, the operator and compliance in a simulation: onboardings, revisions and re-onboardings,
 * collateral reports, deposit notices and withdrawal requests with every kind of repetition, settlement reports, MiFID
 * blocks, questionnaires, documents, webhooks, and the commands of staff. Several callers work at once, and each
 * repeats a call until it is answered.
 */
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import { gateRefusals, refusalText } from "../../src/machines/shared/wireRefusal.ts"
import { isFinal } from "./Auditor.ts"
import { ComplianceDesk } from "./ComplianceDesk.ts"
import type { PartnerAnswer, PartnerCall } from "./Doorway.ts"
import { DealingDesk } from "./DealingDesk.ts"
import { OperatorDesk } from "./OperatorDesk.ts"
import { OrderDesk } from "./OrderDesk.ts"
import { OrderScenes, type Scene } from "./OrderScenes.ts"
import { StatementDesk } from "./StatementDesk.ts"
import { type Trade, TraderDesk } from "./TraderDesk.ts"
import type { PartnerAccount, World } from "./World.ts"

/** Steps of each partner session, and of the other sessions. */
const partnerSteps = 13
const operatorSteps = 16
const operatorSessions = 2
const complianceSteps = 20
const dealingSteps = 25
const statementSteps = 6
const sessionsPerPartner = 2
const tradingSessions = 3
/** The probability that a step of a partner with orders is a scene (OrderScenes.ts). */
const sceneChance = 0.15
const sceneChanceInFalls = 0.35
/** Clients that may trade before any fault. */
const tradersAtFirst = 2
/** Attempts of one call before its caller abandons it. */
const patience = 8
/** The same after the faults: a stream of the venue that stopped during them is closed after 5 s. */
const lastPatience = 3 * patience

interface Unanswered {
  readonly partner: PartnerAccount
  readonly call: PartnerCall
}

export class Workload {
  /** Calls without a final answer during the faults. */
  readonly unanswered: Array<Unanswered> = []
  readonly desk: OperatorDesk
  private readonly compliance: ComplianceDesk
  private readonly traders: TraderDesk
  private readonly orders: OrderDesk
  private readonly scenes: OrderScenes
  private readonly dealing: DealingDesk
  private readonly statements: StatementDesk
  private readonly world: World
  private readonly random: SeededRandom
  private readonly sent: Array<Unanswered> = []
  /** The longest pause between two steps of a session, ms. */
  private readonly pace: number
  private running = 0
  private calls = 0
  private persons = 0

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
    this.pace = this.random.pick([900, 900, 150])
    this.desk = new OperatorDesk(world)
    this.compliance = new ComplianceDesk(world, this.desk)
    this.traders = new TraderDesk(world)
    this.orders = new OrderDesk(world, this.traders.papers)
    this.scenes = new OrderScenes(world)
    this.dealing = new DealingDesk(world)
    this.statements = new StatementDesk(world)
  }

  get idle(): boolean {
    return this.running === 0
  }

  start(): void {
    for (const partner of this.world.partners) {
      if (this.random.chance(0.8)) this.issue(partner, this.registration(partner), () => {})
      for (let session = 0; session < (isTrading(partner) ? tradingSessions : sessionsPerPartner); session++) {
        this.session(partnerSteps, (done) => this.partnerStep(partner, done))
      }
    }
    for (let session = 0; session < operatorSessions; session++) {
      this.session(operatorSteps, (done) => this.desk.step(done))
    }
    this.session(complianceSteps, (done) => this.compliance.step(done))
    this.session(dealingSteps, (done) => this.dealing.step(done))
    this.session(statementSteps, (done) => this.statements.step(done))
  }

  /**
   * Brings the first clients of each trading partner, from index `at` on, to their first request. Run it before any
   * fault.
   */
  setUpTraders(at: number, done: () => void): void {
    const partner = this.world.partners.filter(isTrading)[at]
    if (partner === undefined) return done()
    const calls = (): ReadonlyArray<() => PartnerCall> => [
      () => this.onboarding(partner),
      ...this.traders.papers.map((trade) => () => this.asked(partner, trade(partner.clients.at(-1) ?? 0))),
      () => this.funding(partner, partner.clients.at(-1) ?? 0)
    ]
    const all = Array.from({ length: tradersAtFirst }, calls).flat()
    const next = (step: number): void => {
      const call = all[step]
      if (call === undefined) return this.setUpTraders(at + 1, done)
      this.issue(partner, call(), () => next(step + 1))
    }
    next(0)
  }

  private session(steps: number, step: (done: () => void) => void): void {
    this.running++
    const next = (left: number): void => {
      if (left === 0) return void this.running--
      this.world.outside.after(this.random.between(0, this.pace), () => step(() => next(left - 1)))
    }
    next(steps)
  }

  /** Sends the call until its answer is final, or at most `left` times; then it calls `giveUp`. */
  settle(
    partner: PartnerAccount,
    call: PartnerCall,
    done: () => void,
    giveUp: () => void = () => void this.unanswered.push({ partner, call }),
    left = patience
  ): void {
    this.world.send(partner, call, this.random, (answer) => {
      // Another request may have taken the Idempotency-Key while this one had no answer: that is a final answer too.
      if (answer !== null && (isFinal(answer) || answer.body === keyReused)) {
        this.learn(partner, call, answer)
        return done()
      }
      // Without a clear answer a partner reads the account.
      const [, client] = /clients\/(\d+)\/(?:collateral|deposits|withdrawals)$/.exec(call.path) ?? []
      if (client !== undefined) this.world.read(partner, Number(client), this.random, () => {})
      if (left <= 1) {
        giveUp()
        return done()
      }
      this.world.outside.after(this.random.between(30, 900), () => this.settle(partner, call, done, giveUp, left - 1))
    })
  }

  /** After the faults: sends every open call until it is answered, then calls `done`. */
  reconcile(done: () => void): void {
    const open = this.unanswered.splice(0)
    let left = open.length
    if (left === 0) return done()
    for (const { partner, call } of open) {
      const giveUp = () => this.world.auditor.findings.add("liveness", `${call.id} is never answered`)
      this.settle(partner, call, () => void (--left === 0 && done()), giveUp, lastPatience)
    }
  }

  /** After the faults: each client gets a deposit and its cash is read. `done` is called at the end. */
  probe(partner: PartnerAccount, done: () => void): void {
    let left = partner.clients.length * 2
    if (left === 0) return done()
    const one = () => {
      if (--left === 0) done()
    }
    for (const clientId of partner.clients) {
      const call = this.moneyIn(partner, clientId)
      this.world.auditor.sent(call)
      this.settle(partner, call, one)
      this.world.read(partner, clientId, this.random, (served) => {
        this.world.auditor.findings.expect(served, "liveness", () => `client ${clientId} can't be read`)
        one()
      })
    }
  }

  private learn(partner: PartnerAccount, call: PartnerCall, { status, body }: PartnerAnswer): void {
    if (call.path !== clientsPath || status !== 201) return
    const { data } = JSON.parse(body) as { readonly data: { readonly clientId: number } }
    if (!partner.clients.includes(data.clientId)) partner.clients.push(data.clientId)
  }

  private partnerStep(partner: PartnerAccount, done: () => void): void {
    const { random } = this
    const client = partner.clients.length === 0 ? null : random.pick(partner.clients)
    if (client === null || (partner.clients.length < 3 && random.chance(0.3))) {
      return this.issue(partner, this.onboarding(partner), done)
    }
    const often = this.world.falls ? sceneChanceInFalls : sceneChance
    const scene = partner.orders && random.chance(often) ? this.scenes.next(partner) : null
    if (scene !== null) return this.play(partner, scene, done)
    if (isTrading(partner) && random.chance(0.9)) return this.issue(partner, this.trade(partner, client), done)
    const unwinding = partner.changesCustody && random.chance(0.6) ? this.unwinding(partner) : null
    if (unwinding !== null) return this.issue(partner, unwinding, done)
    if (partner.reviewed && random.chance(0.5)) return this.issue(partner, this.paper(partner, client), done)
    const owes = this.world.store.rows("settlementItems").some((item) => item.partnerId === partner.partnerId)
    if (owes && random.chance(0.25)) return this.settlement(partner, done)
    const draw = random.next()
    if (draw < 0.5) return this.issue(partner, this.money(partner, client, null), done)
    if (draw < 0.62) return this.repeat(partner, done)
    if (draw < 0.68) return this.issue(partner, this.money(partner, client, this.oldRef(partner)), done)
    if (draw < 0.7) return this.issue(partner, this.onboarding(partner), done)
    if (draw < 0.72) return this.issue(partner, this.money(partner, this.foreignClient(partner), null), done)
    if (draw < 0.78) return this.issue(partner, this.revision(partner, client), done)
    if (draw < 0.86) return this.settlement(partner, done)
    if (draw < 0.92) return this.issue(partner, this.webhook(partner), done)
    return this.world.read(partner, client, random, () => done())
  }

  /** Sends the requests of a wave at once, and the next wave after all answers. */
  private play(partner: PartnerAccount, [wave, ...others]: Scene, done: () => void): void {
    if (wave === undefined) return done()
    let left = wave.length
    for (const { trade } of wave)
      this.issue(partner, this.asked(partner, trade), () => {
        if (--left === 0) this.play(partner, others, done)
      })
  }

  /** Sends a new call; sometimes a second caller sends it at the same time. */
  private issue(partner: PartnerAccount, call: PartnerCall, done: () => void): void {
    this.sent.push({ partner, call })
    this.world.auditor.sent(call)
    if (this.random.chance(0.15)) this.settle(partner, call, () => {})
    this.settle(partner, call, done)
  }

  /** Sends an old call again, or another one with its key. */
  private repeat(partner: PartnerAccount, done: () => void): void {
    const own = this.sent.filter((entry) => entry.partner === partner)
    const { call } = this.random.pick(own)
    if (call.key === null || !isFiling(call) || this.random.chance(0.8)) {
      return this.settle(partner, call, done, () => {}, 1)
    }
    const other = { ...call, id: this.nextId(), body: { ...(call.body as object), amount: "0.01" } }
    this.world.auditor.sent(other)
    this.world.send(partner, other, this.random, () => done())
  }

  private nextId(): string {
    return `call-${++this.calls}`
  }

  private call(partner: PartnerAccount, method: PartnerCall["method"], path: string, body: unknown): PartnerCall {
    const id = this.nextId()
    return { id, partner: partner.code, method, path, body, key: this.random.chance(0.8) ? `key-${id}` : null }
  }

  private onboarding(partner: PartnerAccount): PartnerCall {
    // A published name of the sandbox: durable timers decide about its client.
    const named =
      this.random.chance(isTrading(partner) ? 0.05 : 0.3) && !partner.changesCustody
        ? this.random.pick(timedNames)
        : null
    // Sometimes a person, a reference or an e-mail that is already known.
    const n = this.persons > 0 && this.random.chance(0.25) ? this.random.between(1, this.persons) : ++this.persons
    const body = sampleOnboarding(n, "sim", this.world.timeline.now)
    const ref = this.random.chance(0.1) ? "sim-1" : body.partnerClientRef
    // Some identity documents expire in the night after the run.
    const lastDay = new Date(this.world.timeline.now + dayMillis).toISOString().slice(0, 10)
    const identification = this.random.chance(0.1)
      ? { ...body.kyc.identification, expiration_date: lastDay }
      : body.kyc.identification
    const identityCheck = this.random.chance(0.1)
      ? { ...body.identityCheck, documentExpiry: lastDay }
      : body.identityCheck
    const personalInfo = named === null ? body.kyc.personalInfo : { ...body.kyc.personalInfo, last_name: named }
    const kyc = { ...body.kyc, personalInfo, identification }
    return this.call(partner, "POST", clientsPath, { ...body, kyc, identityCheck, partnerClientRef: ref })
  }

  private isBroker(partner: PartnerAccount): boolean {
    const row = this.world.store.rows("partners").find(({ id }) => id === partner.partnerId)
    return row?.custodyModel === "BROKER"
  }

  /** Money in or out by the partner's custody model; sometimes by the other one, which is refused. */
  private money(partner: PartnerAccount, clientId: number, ref: string | null): PartnerCall {
    const broker = this.isBroker(partner) !== this.random.chance(0.03)
    if (!broker) return this.collateral(partner, clientId, ref)
    const open = this.world.store.rows("withdrawalRequests").filter((row) => row.clientId === clientId)
    if (open.length > 0 && this.random.chance(0.15)) {
      const path = `${clientsPath}/${clientId}/withdrawals/${this.random.pick(open).id}/cancel`
      return this.call(partner, "POST", path, null)
    }
    return this.random.chance(0.5) ? this.deposit(partner, clientId, ref) : this.withdrawal(partner, clientId, ref)
  }

  private moneyIn(partner: PartnerAccount, clientId: number): PartnerCall {
    return this.isBroker(partner)
      ? this.deposit(partner, clientId, null)
      : this.collateral(partner, clientId, null, "DEPOSIT")
  }

  private deposit(partner: PartnerAccount, clientId: number, ref: string | null): PartnerCall {
    const call = this.call(partner, "POST", `${clientsPath}/${clientId}/deposits`, null)
    return { ...call, body: { partnerRef: ref ?? `ref-${call.id}`, currency: "USDC", amount: this.amount(30_000) } }
  }

  private withdrawal(partner: PartnerAccount, clientId: number, ref: string | null): PartnerCall {
    const call = this.call(partner, "POST", `${clientsPath}/${clientId}/withdrawals`, null)
    const destination = { iban: `DE${this.calls}` }
    const amount = this.amount(15_000)
    return { ...call, body: { partnerRef: ref ?? `ref-${call.id}`, currency: "USDC", amount, destination } }
  }

  private collateral(
    partner: PartnerAccount,
    clientId: number,
    ref: string | null,
    direction: "DEPOSIT" | "WITHDRAWAL" = this.random.chance(0.5) ? "DEPOSIT" : "WITHDRAWAL"
  ): PartnerCall {
    const call = this.call(partner, "POST", `${clientsPath}/${clientId}/collateral`, null)
    const amount = this.amount(direction === "DEPOSIT" ? 30_000 : 40_000)
    return { ...call, body: { partnerRef: ref ?? `ref-${call.id}`, direction, amount } }
  }

  /** A withdrawal of all that a client has; null if no client has cash. */
  private unwinding(partner: PartnerAccount): PartnerCall | null {
    const held = this.world.store.rows("balances").find((row) => row.partnerId === partner.partnerId && row.cash > 0n)
    if (held === undefined) return null
    const amount = formatAmount(held.cash, "USDC")
    const call = this.isBroker(partner)
      ? this.withdrawal(partner, held.clientId, null)
      : this.collateral(partner, held.clientId, null, "WITHDRAWAL")
    return { ...call, body: { ...(call.body as object), amount } }
  }

  private trade(partner: PartnerAccount, clientId: number): PartnerCall {
    // In falling markets partners with orders trade contracts as well.
    const orders = partner.orders && !(this.world.falls && this.random.chance(0.25))
    const next = (orders ? this.orders : this.traders).next(partner, clientId)
    if (next === "money") return this.money(partner, clientId, null)
    return next === "money in" ? this.funding(partner, clientId) : this.asked(partner, next)
  }

  private asked(partner: PartnerAccount, { method, path, body, keyed }: Trade): PartnerCall {
    const call = this.call(partner, method, path, body)
    return keyed ? call : { ...call, key: null }
  }

  /** A deposit that is enough for a few contracts. */
  private funding(partner: PartnerAccount, clientId: number): PartnerCall {
    const call = this.moneyIn(partner, clientId)
    return { ...call, body: { ...(call.body as object), amount: String(this.random.between(200, 2_000)) } }
  }

  /** Papers of a client: the whole KYC file after a rejection, one half of level MICA_MIFID, or a document. */
  private paper(partner: PartnerAccount, clientId: number): PartnerCall {
    const { random, world } = this
    const rejected = world.store
      .rows("kycPackages")
      .filter((row) => row.partnerId === partner.partnerId && row.state === "REJECTED")
    if (rejected.length > 0 && random.chance(0.7)) return this.reonboarding(partner, random.pick(rejected).clientId)
    const on = `${clientsPath}/${clientId}`
    if (random.chance(0.3)) return this.call(partner, "PUT", `${on}/mifid`, sampleMifid())
    if (random.chance(0.3)) {
      const dataBase64 = Buffer.from(`%PDF-${this.calls}`).toString("base64")
      return this.call(partner, "POST", `${on}/documents`, { name: "paper.pdf", purpose: "identity", dataBase64 })
    }
    const warned = world.store.rows("assessments").some((row) => row.clientId === clientId && row.state === "WARNED")
    if (warned) {
      return this.call(partner, "POST", `${on}/appropriateness/acknowledge`, {
        acknowledgedAt: world.timeline.now - 1_000
      })
    }
    const answers = answersFor(questionnaire1, random.pick(["PASS", "PASS", "WARN", "FAIL"] as const))
    return this.call(partner, "POST", `${on}/appropriateness`, {
      version: 1,
      answers: Object.fromEntries(Object.entries(answers))
    })
  }

  /** The client's whole KYC file, sent again as at first. */
  private reonboarding(partner: PartnerAccount, clientId: number): PartnerCall {
    const { store, timeline } = this.world
    const ref = store.rows("clients").find(({ id }) => id === clientId)?.partnerClientRef ?? ""
    const { kyc, identityCheck, attestation } = sampleOnboarding(Number(ref.split("-")[1] ?? 1), "sim", timeline.now)
    return this.call(partner, "PUT", `${clientsPath}/${clientId}/kyc`, { kyc, identityCheck, attestation })
  }

  /** The tax sections again, which are another revision of the client's KYC package. */
  private revision(partner: PartnerAccount, clientId: number): PartnerCall {
    const call = this.call(partner, "PUT", `${clientsPath}/${clientId}/kyc`, null)
    const { kyc, attestation } = sampleOnboarding(clientId, "sim", this.world.timeline.now)
    return { ...call, body: { kyc: { fatca: kyc.fatca, taxResidency: kyc.taxResidency }, attestation } }
  }

  /** An amount up to `most` cents, as a decimal string. */
  private amount(most: number): string {
    return (this.random.between(1, most) / 100).toFixed(2)
  }

  private oldRef(partner: PartnerAccount): string | null {
    const own = this.sent.filter((entry) => entry.partner === partner && isFiling(entry.call))
    return own.length === 0 ? null : (this.random.pick(own).call.body as { readonly partnerRef: string }).partnerRef
  }

  private foreignClient(partner: PartnerAccount): number {
    const others = this.world.partners.filter((other) => other !== partner).flatMap(({ clients }) => clients)
    return others.length === 0 ? 999_999 : this.random.pick(others)
  }

  private settlement(partner: PartnerAccount, done: () => void): void {
    const items = this.world.store.rows("settlementItems").filter((item) => item.partnerId === partner.partnerId)
    if (items.length === 0) return done()
    if (this.random.chance(0.6)) return this.issue(partner, this.bulk(partner, items), done)
    const settled = this.random.chance(0.6)
    const path = `/partner/v1/settlement/items/${this.random.pick(items).id}/report`
    const body = settled
      ? { status: "SETTLED", partnerTxRef: `bank-${this.calls}`, settledAt: this.world.timeline.now - 60_000 }
      : { status: "FAILED", note: "later" }
    this.issue(partner, this.call(partner, "POST", path, body), done)
  }

  /** A bulk report on some items, sometimes with one item twice or an unknown one. */
  private bulk(partner: PartnerAccount, items: ReadonlyArray<{ readonly id: number }>): PartnerCall {
    const entries = Array.from({ length: this.random.between(1, 6) }, () => {
      const itemId = this.random.chance(0.9) ? this.random.pick(items).id : 999_999
      return this.random.chance(0.6)
        ? { itemId, status: "SETTLED", partnerTxRef: `bulk-${this.calls}` }
        : { itemId, status: "FAILED" }
    })
    return this.call(partner, "POST", "/partner/v1/settlement/report", { items: entries })
  }

  private webhook(partner: PartnerAccount): PartnerCall {
    const draw = this.random.next()
    if (draw < 0.6) return this.registration(partner)
    if (draw < 0.75) return { ...this.call(partner, "DELETE", webhookPath, null), key: null }
    return this.call(partner, "POST", `${webhookPath}/test`, null)
  }

  private registration(partner: PartnerAccount): PartnerCall {
    return { ...this.call(partner, "PUT", webhookPath, { url: partner.url }), key: null }
  }
}

/** True for a call that files money under the partner's own reference. */
const isFiling = ({ path }: PartnerCall): boolean => /\/(collateral|deposits|withdrawals)$/.test(path)

const isTrading = ({ trades, orders }: PartnerAccount): boolean => trades || orders

const keyReused = refusalText(gateRefusals.keyReused)
const timedNames = [
  "Clearedlater",
  "Reliancerejected",
  "Personrejected",
  "Documentsaccepted",
  "Liftedlater",
  "Restrictedlater",
  "Downgradedlater",
  "Closedlater",
  "Creditedlater",
  "Creditedlater",
  "Creditedlater"
]
const dayMillis = 86_400_000
const webhookPath = "/partner/v1/webhook"
const clientsPath = "/partner/v1/clients"
