import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority, type Authority } from '../../test/support/certificates.ts'
import {
  browserRequest,
  openWebSocketPhone,
  type WebSocketPhone,
} from '../../test/support/web-socket-phone.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createSip } from './create-sip.ts'
import { digestResponse } from './auth/digest.ts'
import type { Binding } from './registrar/binding-store.ts'
import type { IncomingInvite } from './invites.ts'
import type { Sip } from './sip.ts'
import type { SipDirectory } from './auth/directory.ts'

const realm = 'example.test'
const directory: SipDirectory = {
  realmState: async (name) => (name === realm ? 'active' : 'unknown'),
  findUser: async (name, username) => ({ username, realm: name, password: 'secret' }),
}
const description = {
  type: 'application/sdp',
  content: 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n',
}

let authority: Authority
let sip: Sip
let invites: Inbox<IncomingInvite>
const phones: WebSocketPhone[] = []

beforeAll(() => {
  authority = createAuthority()
})
afterAll(() => authority.remove())

beforeEach(async () => {
  invites = new Inbox()
  const identity = { ...authority.issue({ names: 'IP:127.0.0.1' }), authorities: undefined }
  sip = createSip({
    bind: '127.0.0.1',
    port: 0,
    secure: { identity: () => identity, wssPort: 0 },
    directory,
    clock: systemClock,
    log: silentLogger,
    userAgent: 'Switchhook/test',
    handlers: { invited: (invite) => invites.push(invite) },
  })
  await sip.start()
})
afterEach(async () => {
  for (const phone of phones.splice(0)) phone.close()
  await sip.stop()
})

async function browser(): Promise<WebSocketPhone> {
  const url = `wss://127.0.0.1:${sip.listening.ports?.wss}/`
  const phone = await openWebSocketPhone(url, { ca: authority.certificate })
  phones.push(phone)
  return phone
}

/** Registers as `username` over the WebSocket, with the user's password. */
async function register(phone: WebSocketPhone, username: string, contact?: string): Promise<Binding> {
  const aor = `sip:${username}@${realm}`
  const uri = `sip:${realm}`
  const more = { To: `<${aor}>`, ...(contact === undefined ? {} : { Contact: `<${contact}>` }) }
  phone.send(browserRequest('REGISTER', uri, more))
  const challenge = await phone.received.next('the challenge', ({ start }) => start.includes(' 401 '))
  const nonce = /nonce="([^"]+)"/.exec(challenge.text)?.[1] ?? ''
  const facts = { username, realm, nonce, uri } as const
  const response = digestResponse({
    ...facts,
    algorithm: 'MD5',
    qop: undefined,
    method: 'REGISTER',
    password: 'secret',
  })
  const said = Object.entries({ ...facts, response }).map(([name, value]) => `${name}="${value}"`)
  const authorization = `Digest ${said.join(', ')}`
  phone.send(browserRequest('REGISTER', uri, { ...more, Authorization: authorization }))
  await phone.received.next(
    'the 200',
    ({ start, text }) => start.includes(' 200 ') && text.includes('REGISTER'),
  )
  const [binding] = await sip.bindings.get(`${username}@${realm}`)
  return binding ?? expect.fail('no binding')
}

function respond(
  phone: WebSocketPhone,
  request: string,
  status: string,
  lines: readonly string[],
  body = '',
): void {
  const kept = request.split('\r\n').filter((line) => /^(via|from|call-id|cseq|record-route):/i.test(line))
  const to = request.split('\r\n').find((line) => /^to:/i.test(line)) ?? ''
  phone.send(
    [
      `SIP/2.0 ${status}`,
      ...kept,
      `${to};tag=browser`,
      ...lines,
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
}

describe('a browser', () => {
  it('registers, is called over its WebSocket, and hangs up over it', async () => {
    const phone = await browser()
    const binding = await register(phone, 'alice')
    expect(binding.remote.transport).toBe('wss')
    const destination = await sip.reach(binding, () => false)
    const to = `sip:alice@${realm}`
    const call = sip.invite({ uri: binding.contact, from: 'sip:bob@x', to, destination, body: description })
    const invite = await phone.received.next('the INVITE', ({ start }) => start.startsWith('INVITE '))
    expect(invite.start).toBe(`INVITE ${binding.contact} SIP/2.0`)
    const { wss } = sip.listening.ports ?? {}
    expect(invite.text).toMatch(new RegExp(`\r\nVia: SIP/2.0/WSS 127.0.0.1:${wss};`))
    expect(invite.text).toContain(`\r\nContact: <sip:127.0.0.1:${wss};transport=ws>\r\n`)
    const contact = `Contact: <${binding.contact}>`
    const type = 'Content-Type: application/sdp'
    respond(phone, invite.text, '200 OK', [contact, type], description.content)
    const outcome = await call.outcome
    if (outcome.kind !== 'answered') expect.fail()
    await phone.received.next('the ACK', ({ start }) => start.startsWith('ACK '))
    void outcome.dialog.bye()
    const bye = await phone.received.next('the BYE', ({ start }) => start.startsWith('BYE '))
    expect(bye.start).toBe(`BYE ${binding.contact} SIP/2.0`)
    respond(phone, bye.text, '200 OK', [])
  })

  it('calls, and is answered over the same', async () => {
    const phone = await browser()
    phone.send(
      browserRequest(
        'INVITE',
        `sip:bob@${realm}`,
        { 'Content-Type': 'application/sdp' },
        description.content,
      ),
    )
    const invite = await invites.next('the INVITE', () => true)
    invite.reject({ status: 486 })
    await phone.received.next('the refusal', ({ start }) => start === 'SIP/2.0 486 Busy Here')
  })

  it('is reported as disconnected in its call when its WebSocket closes, and when that of another does not', async () => {
    const [alice, bob] = [await browser(), await browser()]
    const binding = await register(alice, 'alice')
    await register(bob, 'bob')
    const destination = await sip.reach(binding, () => false)
    const to = `sip:alice@${realm}`
    const call = sip.invite({ uri: binding.contact, from: 'sip:bob@x', to, destination, body: description })
    const invite = await alice.received.next('the INVITE', ({ start }) => start.startsWith('INVITE '))
    const more = [`Contact: <${binding.contact}>`, 'Content-Type: application/sdp']
    respond(alice, invite.text, '200 OK', more, description.content)
    const outcome = await call.outcome
    if (outcome.kind !== 'answered') expect.fail()
    let times = 0
    const unused = (): never => expect.fail()
    const disconnected = (): void => void (times += 1)
    outcome.dialog.listen({
      ended: unused,
      confirmed: unused,
      failed: unused,
      offered: unused,
      requested: unused,
      disconnected,
    })
    bob.close()
    await until('bob to be gone', async () => (await sip.bindings.get(`bob@${realm}`)).length === 0)
    expect(times).toBe(0)
    alice.close()
    await until('alice to be gone', () => times > 0)
    expect(times).toBe(1)
  })

  it('is not registered any more once its WebSocket is gone, and no other is taken for it', async () => {
    const [alice, bob] = [await browser(), await browser()]
    const binding = await register(alice, 'alice')
    await register(bob, 'bob')
    alice.close()
    await until('alice to be gone', async () => (await sip.bindings.get(`alice@${realm}`)).length === 0)
    await expect(sip.reach(binding, () => true)).rejects.toMatchObject({ code: 'sip_unreachable' })
    expect(await sip.bindings.get(`bob@${realm}`)).toHaveLength(1)
  })

  it('cannot claim the WebSocket of another by its Contact, as long as it is there or afterwards', async () => {
    const [alice, mallory] = [await browser(), await browser()]
    const { port } = (await register(alice, 'alice')).remote
    const claimed = await register(mallory, 'mallory', `sip:x@127.0.0.1:${port};transport=wss`)
    expect((await sip.reach(claimed, () => true)).port).toBe(claimed.remote.port)
    expect(claimed.remote.port).not.toBe(port)
    mallory.close()
    await until('mallory to be gone', async () => (await sip.bindings.get(`mallory@${realm}`)).length === 0)
    await expect(sip.reach(claimed, () => true)).rejects.toMatchObject({ code: 'sip_unreachable' })
    await expect(sip.resolve(claimed.contact)).rejects.toMatchObject({ code: 'sip_unreachable' })
    expect(alice.received.items.some(({ start }) => start.startsWith('INVITE'))).toBe(false)
  })
})
