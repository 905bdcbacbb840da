/** The generator of the feed's part, a process of its own: reads the same few paths again and again. */
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
