// A registrar on the fake network: it responds as a test says and keeps the requests.
import { headerOf, type SipRequest } from '../../src/sip/message/message.ts'
import { tagOf } from '../../src/sip/message/name-addr.ts'
import type { FakeNetwork } from './fake-network.ts'

export interface RegistrarReply {
  readonly status: number
  /** Whole header lines. */
  readonly lines?: readonly string[]
}

export interface ScriptedRegistrar {
  readonly requests: SipRequest[]
  /** Returns the response to a request; with undefined there is none. */
  answers: (request: SipRequest) => RegistrarReply | undefined
}

/** Attaches a registrar that grants every request, until a test changes `answers`. */
export function attachRegistrar(network: FakeNetwork, address: string): ScriptedRegistrar {
  const registrar: ScriptedRegistrar = { requests: [], answers: granted() }
  const transport = network.attach(address, (message, _raw, remote) => {
    if (message.kind !== 'request') return
    const isRepeated = registrar.requests.some(
      (request) => headerOf(request, 'via') === headerOf(message, 'via'),
    )
    if (!isRepeated) registrar.requests.push(message)
    const reply = registrar.answers(message)
    if (reply === undefined) return
    const copied = message.headers
      .filter(({ name }) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
      .map(({ name, value }) =>
        name === 'to' && tagOf(value) === undefined ? `${name}: ${value};tag=r` : `${name}: ${value}`,
      )
    const start = `SIP/2.0 ${reply.status} ${reply.status === 200 ? 'OK' : 'Refused'}`
    const lines = [start, ...copied, ...(reply.lines ?? []), 'Content-Length: 0', '', '']
    void transport.send(Buffer.from(lines.join('\r\n')), remote)
  })
  return registrar
}

/** Returns a 200 with the Contact and its time, as requested or as given, and with the added `lines`. */
export function granted(seconds?: number, lines: readonly string[] = []): ScriptedRegistrar['answers'] {
  return (request) => {
    const contact = headerOf(request, 'contact') ?? ''
    const value = seconds === undefined ? contact : contact.replace(/;expires=\d+/, `;expires=${seconds}`)
    return { status: 200, lines: [`Contact: ${value}`, ...lines] }
  }
}
