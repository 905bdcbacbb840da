/** The load generator of the feed's part, in a process of its own. It reads a few paths repeatedly. */
import { answerParent } from "../child.ts"
import { runSlice } from "../load/runSlice.ts"
import type { PathSlice } from "./feedProtocol.ts"

answerParent((slice: PathSlice) => {
  const texts = slice.paths.map(
    (path) =>
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${slice.port}\r\nAuthorization: Bearer ${slice.partnerKey}\r\n\r\n`
  )
  let at = 0
  return runSlice(
    slice,
    () => texts[at++ % texts.length] as string,
    () => {},
    false
  )
})
