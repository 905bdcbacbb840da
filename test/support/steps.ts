/**
 * Steps of scenarios on one partner: writes and reads with its key and decisions of operators, each in one call. A step
 * that changes state throws its refusal.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { Lifecycle } from "../../src/runtime/services/lifecycle/Lifecycle.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { collateral, comply, get, ofClient, onboard, person } from "./Builders.ts"
import { type Answer, operator, type Service } from "./Service.ts"

export type Headers = Readonly<Record<string, string>>
/** Members of a request's body, or dotted paths of a sample. */
export type Members = Readonly<Record<string, unknown>>
type Restriction = "FROZEN" | "NO_WITHDRAWALS" | "NO_NEW_RISK"

export const stepsOf = (service: Service, key: string) => ({
  ...clientSteps(service, key),
  ...moneySteps(service, key),
  ...complianceSteps(service),
  /** Business time, Unix ms. */
  now: (): Promise<number> => service.run(Effect.map(BusinessClock, (clock) => clock.now()))
})

let scenes = 0

const clientSteps = (service: Service, key: string) => {
  // Files that share a service have different persons.
  const tag = `scene${++scenes}`
  let persons = 0
  const nextPerson = (): number => ++persons
  const personOf = (n: number, paths: Members = {}) => person(n, tag, paths)
  const read = async (path: string) => (await get(service, key, path)).json.data
  const verificationOf = (clientId: number) => read(`/clients/${clientId}/verification`)
  return {
    /** A call on a client of the partner. */
    call: (method: string, clientId: number, path: string, body: object, headers: Headers = {}): Promise<Answer> =>
      service.call(method, `/partner/v1/clients/${clientId}${path}`, { key, body, headers }),
    /** A new ACTIVE client. */
    client: (): Promise<number> => service.client(key),
    /** The number of an unused person. */
    nextPerson,
    /** The body that onboards person `n`, with some paths replaced. */
    personOf,
    /** Onboards the next person. Returns the answer's data, and `n`. */
    onboarded: async (paths: Members = {}) => {
      const n = nextPerson()
      const { status, text, json } = await onboard(service, key, personOf(n, paths))
      assert.strictEqual(status, 201, text)
      return { n, ...json.data } as Onboarded
    },
    /** The body that sends person `n` again, with all sections. */
    revisionOf: (n: number, paths: Members = {}) => {
      const { kyc, identityCheck, attestation } = personOf(n, paths)
      return { kyc, identityCheck, attestation }
    },
    /** Some sections of person `n` with the attestation. The paths are those of the whole body. */
    sectionsOf: (n: number, names: ReadonlyArray<string>, paths: Members = {}) => {
      const { kyc, identityCheck, attestation } = personOf(n, paths)
      return {
        kyc: Object.fromEntries(Object.entries(kyc).filter(([name]) => names.includes(name))),
        ...(names.includes("identityCheck") ? { identityCheck } : {}),
        attestation
      }
    },
    rowOf: (clientId: number) => read(`/clients/${clientId}`),
    verificationOf,
    blockOf: async (clientId: number, code: string) =>
      (await verificationOf(clientId)).blocks.find((block: { readonly code: string }) => block.code === code),
    /** Names of the client's events, oldest first. */
    eventNames: async (clientId: number) => (await ofClient(service, "events", clientId)).map(({ name }) => name)
  }
}

export interface Onboarded {
  readonly n: number
  readonly clientId: number
  readonly clientUid: string
  readonly kycPackageId: number
  readonly partnerClientRef: string
  readonly status: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly review: any
  readonly requirements: unknown
}

const moneySteps = (service: Service, key: string) => {
  let references = 0
  const fresh = (): string => `ref-${++references}`
  return {
    /** An unused reference. */
    fresh,
    /** Reports collateral: by default a deposit of 1.00 under a fresh reference. */
    report: (clientId: number, body: Members = {}, headers: Headers = {}): Promise<Answer> =>
      collateral(
        service,
        key,
        clientId,
        { partnerRef: fresh(), direction: "DEPOSIT", amount: "1.00", ...body },
        headers
      ),
    /** The client's cash, from its balances. */
    cash: async (clientId: number, currency = "USDC"): Promise<string> =>
      (await get(service, key, `/clients/${clientId}/balances`)).json.balances.find(
        (line: { readonly currency: string }) => line.currency === currency
      )?.cash,
    /** A correction by finance. Returns the id of its transaction. */
    adjust: async (clientId: number, amount: string, currency = "USDC", reference?: string): Promise<number> => {
      const correction = { currency, amount, reason: "test", ...(reference === undefined ? {} : { reference }) }
      const verdict = await service.run(
        Effect.provide(
          Adjustments.use((adjustments) => adjustments.adjust(operator, String(clientId), correction)),
          Adjustments.layer
        )
      )
      if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
      return verdict.value.ledgerTxId
    }
  }
}

const complianceSteps = (service: Service) => {
  /** Runs a lifecycle command on a client; throws its refusal. */
  const lifecycle = async (decide: (lifecycle: Lifecycle["Service"]) => ReturnType<Lifecycle["Service"]["close"]>) => {
    const verdict = await service.run(Effect.provide(Effect.flatMap(Lifecycle, decide), Lifecycle.layer))
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
  }
  return {
    restrict: (clientId: number, name: Restriction) =>
      comply(service, (compliance) => compliance.restrict(operator, String(clientId), name, "court order")),
    lift: (clientId: number, name: Restriction) =>
      comply(service, (compliance) => compliance.lift(operator, String(clientId), name, "order withdrawn")),
    /** Clears the client's open case. */
    clear: (clientId: number) =>
      comply(service, (compliance) => compliance.clear(operator, String(clientId), "another person")),
    reject: (clientId: number) =>
      comply(service, (compliance) =>
        compliance.reject(operator, String(clientId), "The identity session is missing.")
      ),
    close: (clientId: number) => lifecycle((decisions) => decisions.close(operator, String(clientId), "test")),
    reopen: (clientId: number) => lifecycle((decisions) => decisions.reopen(operator, String(clientId), "test")),
    /** Refuses the person for ever. */
    refuse: (clientId: number) => lifecycle((decisions) => decisions.rejectPerson(operator, String(clientId), "test"))
  }
}
