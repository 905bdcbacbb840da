/** Priorities of threads that run beside the serving thread: the serving thread takes precedence. */
import { existsSync, readlinkSync } from "node:fs"
import { constants, setPriority } from "node:os"

/** On Linux a thread has a priority and a name of its own. */
const ownName = "/proc/thread-self"

/**
 * Lowers the priority of this thread from now on. `much`: it uses only idle processor time. `some`: it gets about a tenth beside
 * a thread that is always busy. No effect on systems other than Linux.
 */
export const giveWay = (how: "some" | "much"): void => {
  const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
  const priority = how === "some" ? PRIORITY_BELOW_NORMAL : PRIORITY_LOW
  if (existsSync(ownName)) setPriority(Number(readlinkSync(ownName).split("/").at(-1)), priority)
}
