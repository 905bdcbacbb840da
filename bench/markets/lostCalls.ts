/**
 * Measures calls whose answers from the venue are lost: thousands in flight when the service is killed, while the venue
 * sends no answers and drops its events. It measures how long the next process takes to find the outcome of each call,
 * and how many queries it sends.
 */
import { Agent } from "node:https"
import { setTimeout as pause } from "node:timers/promises"
import { type Spread, spreadOf } from "../rounds.ts"
import { type RunningService, startService } from "../service.ts"
import { createPartner, onboardClients } from "../setup.ts"
import { textOf } from "../textOf.ts"

export interface LostCallsPlan {
  readonly dataDirectory: string
  /** Clients, each with `callsEach` calls in flight. */
  readonly clients: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

export interface LostCallsFindings {
  /** Calls in flight when the service was killed. */
  readonly calls: Spread
  /** Seconds from the first answer of the new process until no call is in flight. */
  readonly seconds: Spread
  readonly lookups: Spread
}

const callsEach = 100

interface World {
  readonly service: RunningService
  readonly agent: Agent
}

const operator = ({ service, agent }: World, path: string, body: object) =>
  textOf(service, agent, { method: "POST", path: `/operator/v1${path}`, key: service.operatorKey, body })

const metric = (metrics: string, name: string): number =>
  Number(
    metrics
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1)
  )

const metricsOf = ({ service, agent }: World) =>
  textOf(service, agent, { method: "GET", path: "/operator/v1/metrics", key: service.operatorKey })

const inFlight = async (world: World): Promise<number> =>
  metric(await metricsOf(world), `brokerage_venue_calls{state="in_flight"}`)

const until = async (done: () => Promise<boolean>): Promise<void> => {
  const patience = performance.now() + 60_000
  while (!(await done())) {
    if (performance.now() > patience) throw new Error("the venue's calls did not come to what was waited for")
    await pause(50)
  }
}

/** Sets faults at the venue: it executes received calls, and sends neither answers nor events. */
const deafen = async (world: World): Promise<void> => {
  const forMillis = 600_000
  await operator(world, "/sim/venue/fault", { kind: "timeout-after", route: "order", forMillis })
  await operator(world, "/sim/venue/fault", { kind: "drop-events", route: "events", forMillis })
}

/**
 * Sends calls and kills the service before it knows the outcome of many of them. Returns the number of calls in flight.
 */
const lose = async (world: World, clientIds: ReadonlyArray<number>): Promise<number> => {
  let most = 0
  let lost = 0
  const probes = clientIds.map((id) =>
    operator(world, "/sim/venue/probe", { client: String(id), calls: callsEach }).catch(() => "cut off by the kill")
  )
  // Waits until all calls are in flight, or until the service has resolved the first ones.
  await until(async () => {
    lost = await inFlight(world)
    most = Math.max(most, lost)
    return lost === clientIds.length * callsEach || (lost < most && lost > 0)
  })
  await world.service.kill()
  await Promise.all(probes)
  const wanted = clientIds.length * callsEach
  if (lost !== wanted) throw new Error(`${lost} calls were in flight when the service was killed, not ${wanted}`)
  return lost
}

export const measureLostCalls = async (plan: LostCallsPlan): Promise<LostCallsFindings> => {
  let service = await startService(plan.dataDirectory)
  const partner = await createPartner(service, "LOST")
  const { clientIds } = await onboardClients(service, partner, plan.clients, "lost")
  const agent = new Agent({ ca: service.ca, keepAlive: true })
  const calls: Array<number> = []
  const seconds: Array<number> = []
  const lookups: Array<number> = []
  try {
    for (let round = 0; round < plan.rounds; round++) {
      await deafen({ service, agent })
      calls.push(await lose({ service, agent }, clientIds))
      service = await startService(plan.dataDirectory)
      const world = { service, agent }
      const began = performance.now()
      await until(async () => (await inFlight(world)) === 0)
      seconds.push((performance.now() - began) / 1_000)
      lookups.push(metric(await metricsOf(world), "brokerage_venue_lookups_total"))
      plan.progress(
        `lost calls: ${calls.at(-1)} known after ${seconds.at(-1)?.toFixed(2)} s, ${lookups.at(-1)} lookups`
      )
      await operator(world, "/sim/venue/clear", {})
    }
    return { calls: spreadOf(calls), seconds: spreadOf(seconds), lookups: spreadOf(lookups) }
  } finally {
    agent.destroy()
    await service.stop()
  }
}
