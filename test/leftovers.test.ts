/** The check of leftovers names each kind: a test plants a leftover, finds it, removes it and then finds none. */
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer } from "node:net"
import { vi } from "vitest"
import { settledLeftovers, leftovers, standing } from "./support/leftovers.ts"

/** Plants one leftover; the returned function removes it. */
const plants: ReadonlyArray<readonly [name: string, plant: () => Promise<() => void>, sentence: string]> = [
  [
    "a changed environment",
    async () => {
      process.env.LEFT_BEHIND = "1"
      return () => void delete process.env.LEFT_BEHIND
    },
    "the environment variable LEFT_BEHIND is changed"
  ],
  [
    "a spy",
    async () => {
      const spy = vi.spyOn(Math, "max")
      return () => spy.mockRestore()
    },
    "a spy on max is not restored"
  ],
  [
    "a replaced member of a global object",
    async () => {
      const { random } = Math
      Math.random = () => 0.5
      return () => void (Math.random = random)
    },
    "Math.random is replaced"
  ],
  [
    "a handler of a process event",
    async () => {
      const handler = (): void => {}
      process.on("beforeExit", handler)
      return () => void process.off("beforeExit", handler)
    },
    "a handler of the process event beforeExit is left"
  ],
  [
    "fake timers",
    async () => {
      vi.useFakeTimers({ toFake: ["Date"] })
      return () => void vi.useRealTimers()
    },
    "timers are fake"
  ],
  [
    "a timer",
    async () => {
      const timer = setInterval(() => {}, 60_000)
      return () => clearInterval(timer)
    },
    "a timer is left"
  ],
  [
    "a listening socket",
    async () => {
      const server = createServer().listen(0, "127.0.0.1")
      await once(server, "listening")
      return () => void server.close()
    },
    "a listening socket is left"
  ]
]

describe("what a test file leaves behind", () => {
  it.each(plants)("%s", async (_, plant, sentence) => {
    const before = standing()
    const remove = await plant()
    const found = leftovers(before)
    remove()
    assert.include(found, sentence)
    assert.notInclude(await settledLeftovers(before), sentence)
  })
})
