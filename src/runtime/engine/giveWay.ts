/** Priority of threads beside the one that serves: whoever waits for the service comes first. */
import { existsSync, readlinkSync } from "node:fs"
import { constants, setPriority } from "node:os"

/** On Linux a thread has a priority and a name of its own. */
const ownName = "/proc/thread-self"

/**
 * From now on this thread gives way to those that serve: `much` takes what nobody else wants of the processors, `some` a tenth beside
 * one that is always busy. Elsewhere than on Linux nothing changes.
 */
export const giveWay = (how: "some" | "much"): void => {
  const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
  const priority = how === "some" ? PRIORITY_BELOW_NORMAL : PRIORITY_LOW
  if (existsSync(ownName)) setPriority(Number(readlinkSync(ownName).split("/").at(-1)), priority)
}
