import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startBaresip } from '../../test/support/baresip.ts'
import { createAuthority, type Authority } from '../../test/support/certificates.ts'
import { isMissing } from '../../test/support/tools.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createSip } from './create-sip.ts'
import type { UserAgent } from './user-agent.ts'
import { headerOf } from './message/message.ts'
import type { Dialog } from './dialogs.ts'
import type { IncomingInvite } from './invites.ts'
import type { SipDirectory } from './auth/directory.ts'
import type { WireEvent } from './transport/wire-event.ts'

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
beforeAll(() => {
  authority = createAuthority()
})
afterAll(() => authority.remove())

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Stage {
  readonly sip: UserAgent
  readonly invites: Inbox<IncomingInvite>
  readonly wire: Inbox<WireEvent>
  readonly port: number
}

/** Starts a stack with a certificate for `name`, where every host name resolves to this machine. */
async function start(name: string): Promise<Stage> {
  const invites = new Inbox<IncomingInvite>()
  const wire = new Inbox<WireEvent>()
  const identity = { ...authority.issue({ names: `DNS:${name}` }), authorities: authority.certificate }
  const sip = createSip({
    bind: '127.0.0.1',
    port: 0,
    secure: { identity: () => identity, tlsPort: 0, name },
    directory,
    clock: systemClock,
    log: silentLogger,
    userAgent: 'Switchhook/test',
    handlers: { invited: (invite) => invites.push(invite), wire: (event) => wire.push(event) },
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  await sip.start()
  closing.push(() => sip.stop())
  return { sip, invites, wire, port: sip.listening.ports?.tls ?? 0 }
}

const from = '<sip:alice@a.example>'

describe('a call over TLS', () => {
  it('to a sips URI has secure Contacts, and all of it goes over the connection of the INVITE', async () => {
    const [a, b] = [await start('a.example'), await start('b.example')]
    const uri = `sips:bob@b.example:${b.port}`
    const sent = a.sip.invite({ uri, from, to: uri, contactUser: 'alice', body: description })
    const invite = await b.invites.next('the INVITE', () => true)
    expect(headerOf(invite.request, 'via')).toMatch(`SIP/2.0/TLS a.example:${a.port};`)
    expect(headerOf(invite.request, 'contact')).toBe(`<sips:alice@a.example:${a.port};transport=tls>`)
    const called = invite.accept({ body: description })
    const outcome = await sent.outcome
    if (outcome.kind !== 'answered') expect.fail()
    expect(headerOf(outcome.response, 'contact')).toBe(`<sips:bob@b.example:${b.port};transport=tls>`)
    await ended(outcome.dialog, () => called.bye())
    const ways = new Set(b.wire.items.map(({ remote }) => `${remote.transport}:${remote.port}`))
    expect(ways).toEqual(new Set([`tls:${invite.remote.port}`]))
    expect(a.wire.items.every(({ remote }) => remote.name === 'b.example')).toBe(true)
  })

  it('to a sip URI with transport=tls has Contacts of that kind', async () => {
    const [a, b] = [await start('a.example'), await start('b.example')]
    const uri = `sip:bob@b.example:${b.port};transport=tls`
    const sent = a.sip.invite({ uri, from, to: uri, body: description })
    const invite = await b.invites.next('the INVITE', () => true)
    expect(headerOf(invite.request, 'contact')).toBe(`<sip:a.example:${a.port};transport=tls>`)
    invite.reject({ status: 486 })
    expect(await sent.outcome).toMatchObject({ response: { status: 486 } })
  })

  it('is not placed where the far end shows the certificate of another, and the reason is known before', async () => {
    const [a, b] = [await start('a.example'), await start('b.example')]
    const remote = await a.sip.resolve(`sips:bob@c.example:${b.port}`)
    await expect(a.sip.open(remote)).rejects.toMatchObject({
      code: 'sip_certificate',
      message: 'the certificate that c.example shows is for another name',
    })
    const uri = `sips:bob@c.example:${b.port}`
    const sent = a.sip.invite({ uri, from, to: uri, body: description })
    expect(await sent.outcome).toMatchObject({ kind: 'refused', response: { status: 503 } })
    expect(b.wire.items).toEqual([])
  })
})

async function ended(dialog: Dialog, end: () => unknown): Promise<void> {
  const bye = Promise.withResolvers<void>()
  dialog.listen({
    ended: () => bye.resolve(),
    confirmed: () => undefined,
    failed: (reason) => bye.reject(new Error(reason)),
    offered: async () => ({ status: 488 }),
    requested: async () => ({ status: 200 }),
  })
  await end()
  await bye.promise
}

describe.skipIf(isMissing('baresip'))('with baresip over TLS', () => {
  it('registers, is called by the connection that it opened, and is gone with it', async () => {
    const { sip, port } = await start('example.test')
    const phone = await startBaresip({
      username: 'alice',
      password: 'secret',
      realm,
      proxy: { address: '127.0.0.1', port, transport: 'tls' },
      answers: 'auto',
    })
    let isStopped = false
    closing.push(async () => void (isStopped || (await phone.stop())))
    expect(await phone.registered()).toMatchObject({ ok: true })
    const [binding] = await sip.bindings.get(`alice@${realm}`)
    if (binding === undefined) expect.fail()
    expect(binding.remote.transport).toBe('tls')
    const destination = await sip.reach(binding, () => false)
    const to = `sip:alice@${realm}`
    const sent = sip.invite({ uri: binding.contact, from, to, destination, body: description })
    expect(await sent.outcome).toMatchObject({ kind: 'answered' })
    isStopped = true
    process.kill(phone.pid, 'SIGKILL')
    await until('the binding to be gone', async () => (await sip.bindings.get(`alice@${realm}`)).length === 0)
    await phone.stop()
  })
})
