/**
 * What a scenario begins with, in one line of its file: a service of its own with one partner, and the steps that scenarios
 * share. It opens while the file is collected and closes after the file's last test, when the books must hold.
 */
import { afterAll, assert } from "@effect/vitest"
import { setTimeout as pause } from "node:timers/promises"
import type { PartnerBody } from "../../src/runtime/services/lifecycle/Partners.ts"
import type { WatchEntryBody } from "../../src/runtime/services/screening/WatchLists.ts"
import { brokenInvariants, watch } from "./Builders.ts"
import { type Service, type ServiceOptions, startService } from "./Service.ts"
import { stepsOf } from "./steps.ts"

export interface OpenOptions extends ServiceOptions {
  /** Its tests damage rows on purpose: the books are not proved at the end. */
  readonly damaged?: boolean
}

export interface ScenarioOptions extends OpenOptions {
  /** How its partner differs from the usual one (PARTNER custody, sandbox, reliance APPROVED). */
  readonly partner?: Partial<PartnerBody>
  /** Entries on the watch lists from the beginning. */
  readonly watched?: ReadonlyArray<WatchEntryBody>
}

/** Custody BROKER on the real venue's terms: clients' money lies with the service. */
export const broker = { custody: "BROKER", collateralAsset: "", sandbox: false } as const

/** The shared service of this worker, if its set-up (sharedService.ts) has started one. */
let shared: Service | undefined

/** Whether the files of this worker share a service. */
export const isShared = (): boolean => shared !== undefined

/** Lets the files of this worker share a service. */
export const share = (service: Service): void => void (shared = service)

/** Opens a scenario over HTTP alone; `openOperatorScenario` also has the command line. */
export const openScenario = (options: ScenarioOptions = {}) => openOn(startService, options)

/** Opens a scenario on a service that `start` makes. */
export const openOn = async <S extends Service>(
  start: (options: ServiceOptions) => Promise<S>,
  { partner: creation, watched = [], ...options }: ScenarioOptions
) => {
  const service = await openService(start, options)
  const partner = await service.partner(creation)
  for (const entry of watched) await watch(service, entry)
  return { service, partner, key: partner.key, ...stepsOf(service, partner.key) }
}

/** Opens a service, shared or of its own, until the file's last test; the books must hold then, unless `damaged`. */
export const openService = async <S extends Service>(
  start: (options: ServiceOptions) => Promise<S>,
  { damaged = false, ...options }: OpenOptions = {}
): Promise<S> => {
  const isOwn = shared === undefined || damaged || Object.keys(options).length > 0
  const service = isOwn ? await inTime(start(options)) : (shared as S)
  afterAll(async () => {
    if (!damaged) assert.deepStrictEqual(await brokenInvariants(service), [])
    if (isOwn) await service.stop()
  })
  return service
}

/** While a file is collected no time limit of the runner holds. */
const inTime = <A>(opening: Promise<A>): Promise<A> =>
  Promise.race([
    opening,
    pause(60_000, null, { ref: false }).then(() => Promise.reject(new Error("the service did not start in a minute")))
  ])
