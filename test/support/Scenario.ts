/**
 * Opens a scenario: a service with one partner, and the steps that scenarios share. It opens while the file is
 * collected and closes after the file's last test, when the books are verified.
 */
import { afterAll, assert } from "@effect/vitest"
import { setTimeout as pause } from "node:timers/promises"
import type { PartnerBody } from "../../src/runtime/services/lifecycle/Partners.ts"
import type { WatchEntryBody } from "../../src/runtime/services/screening/WatchLists.ts"
import { brokenInvariants, watch } from "./Builders.ts"
import { type Service, type ServiceOptions, startService } from "./Service.ts"
import { stepsOf } from "./steps.ts"

export interface OpenOptions extends ServiceOptions {
  /** True if the tests damage rows on purpose. The books are then not verified at the end. */
  readonly damaged?: boolean
}

export interface ScenarioOptions extends OpenOptions {
  /** Members of its partner that differ from the usual one (PARTNER custody, sandbox, reliance APPROVED). */
  readonly partner?: Partial<PartnerBody>
  /** Entries of the watch lists at the start. */
  readonly watched?: ReadonlyArray<WatchEntryBody>
}

/** BROKER custody, in which the service holds the clients' money, and without the sandbox. */
export const broker = { custody: "BROKER", collateralAsset: "", sandbox: false } as const

/** The service that the files of this worker share, if the worker's set-up (sharedService.ts) started one. */
let shared: Service | undefined

/** True if the files of this worker share a service. */
export const isShared = (): boolean => shared !== undefined

/** Sets the service that the files of this worker share. */
export const share = (service: Service): void => void (shared = service)

/** Opens a scenario over HTTP alone; `openOperatorScenario` also has the command line. */
export const openScenario = (options: ScenarioOptions = {}) => openOn(startService, options)

/** Opens a scenario on a service that `start` creates. */
export const openOn = async <S extends Service>(
  start: (options: ServiceOptions) => Promise<S>,
  { partner: creation, watched = [], ...options }: ScenarioOptions
) => {
  const service = await openService(start, options)
  const partner = await service.partner(creation)
  for (const entry of watched) await watch(service, entry)
  return { service, partner, key: partner.key, ...stepsOf(service, partner.key) }
}

/** Opens a service, shared or new, until the file's last test. The books are then verified, unless `damaged`. */
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

/** Limits the opening to a minute: the runner limits no time while it collects a file. */
const inTime = <A>(opening: Promise<A>): Promise<A> =>
  Promise.race([
    opening,
    pause(60_000, null, { ref: false }).then(() => Promise.reject(new Error("the service did not start in a minute")))
  ])
