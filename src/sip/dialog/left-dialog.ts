// A dialog whose process has ended: what is stored of it, and the BYE that another process sends in it. RFC 3261 §12.2.1
// lets the CSeq jump, so requests that the lost process has sent since do not matter.
import { isIP } from 'node:net'
import { toReportedAddress } from '../../network/reported-address.ts'
import { cleanHeaders, type Core } from './core.ts'
import { addressed, dialogHeaders, type DialogState } from './dialog-state.ts'
import { sendRequest } from './send-request.ts'
import { buildRequest } from '../message/build.ts'
import type { HeaderField } from '../message/message.ts'
import { tryParseUri } from '../message/uri.ts'
import type { LeftDialog } from '../dialogs.ts'
import { isReliable, toTransport, transports, type Remote } from '../transport/transports.ts'

// More requests than a dialog can have: its session is refreshed each 15 minutes, and a journal has 4,000 events.
const sequenceGap = 100_000

/** Returns what must be stored, at the moment of the answer. `source` is where packets of the peer come from. */
export function leftDialogOf(
  { callId, local, remote, routeSet, remoteTarget, localSequence }: DialogState,
  source: Remote,
): LeftDialog {
  const to = placeOf(addressed(remoteTarget, routeSet).nextHop, source)
  return { callId, local, remote, routeSet, remoteTarget, localSequence, to }
}

/**
 * Returns where a BYE goes: the next hop, if it names the address that packets of the peer come from, else that source.
 * So no Contact or Record-Route leads a BYE anywhere else.
 */
function placeOf(nextHop: string, { transport, address, port }: Remote): LeftDialog['to'] {
  const source = { transport, address, port }
  const uri = tryParseUri(nextHop)
  if (uri === undefined || uri.scheme === 'tel') return source
  const isSame = isIP(uri.host) !== 0 && toReportedAddress(uri.host) === address
  if (!isSame || transports[transport].isOpenedHere === false) return source
  const named = toTransport(uri.params.get('transport') ?? '') ?? transport
  return { transport: named, address, port: uri.port ?? transports[named].defaultPort }
}

/** Sends a BYE in the dialog and resolves with the status of its response; 408 or 503 if there is none. */
export function byeIn(core: Core, left: LeftDialog, headers: readonly HeaderField[]): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const state = { ...left, localTag: '', remoteTag: '', allowed: [], remoteSequence: undefined }
  const { uri } = addressed(left.remoteTarget, left.routeSet)
  let sequence = left.localSequence + sequenceGap
  sendRequest({
    transactions: core.transactions,
    remote: left.to,
    keepsTransport: !isReliable(left.to),
    credentials: undefined,
    build: (authorization) =>
      buildRequest({
        method: 'BYE',
        uri,
        headers: [
          ...dialogHeaders(state, 'BYE', ++sequence),
          ...authorization,
          ...cleanHeaders(headers),
          { name: 'user-agent', value: core.product },
        ],
      }),
    response(response) {
      if (response.status >= 200) resolve(response.status)
    },
  })
  return promise
}
