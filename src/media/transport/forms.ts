// The table of transports by the form that offer and answer agreed on.
import type { BrowserGates } from '../browsers/gates.ts'
import type { SocketPair } from './ports.ts'
import { BrowserTransport } from './browser.ts'
import { PlainTransport } from './plain.ts'
import { SdesTransport } from './sdes.ts'
import type { Form, PacketTransport } from './transport.ts'

/** Each uses the two sockets of the session, and closes them. */
const forms: Readonly<Record<Form, (sockets: SocketPair, gates: BrowserGates) => PacketTransport>> = {
  plain: (sockets) => new PlainTransport(sockets),
  sdes: (sockets) => new SdesTransport(sockets),
  browser: (sockets, gates) => new BrowserTransport(sockets, gates),
}

export function openTransport(form: Form, sockets: SocketPair, gates: BrowserGates): PacketTransport {
  return forms[form](sockets, gates)
}
