// Phones made of our own SIP stack over real sockets: INVITE with Replaces takes a call over, REFER joins two, a 302 is
// followed.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createSip } from '../../src/sip/create-sip.ts'
import type { Dialog, IncomingInvite, InviteOutcome, Reply, Sip } from '../../src/sip/sip.ts'
import { startApplication, type Application } from '../support/application.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  journalOf,
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { Inbox, until } from '../support/wait.ts'

let application: Application
let platform: Platform
let tenant: Tenant
let stranger: Tenant
const phones: Phone[] = []

const body = (port: number): NonNullable<Reply['body']> => ({
  type: 'application/sdp',
  content: `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0\r\na=sendrecv\r\n`,
})

/** A phone that calls, is called, and records the events of its dialogs. */
class Phone {
  readonly events = new Inbox<string>()
  readonly invites = new Inbox<IncomingInvite>()
  readonly #sip: Sip

  constructor() {
    this.#sip = createSip({
      bind: '127.0.0.1',
      port: 0,
      directory: { realmState: async () => 'unknown', findUser: async () => undefined },
      handlers: { invited: (invite) => this.invites.push(invite) },
      clock: systemClock,
      log: silentLogger,
      userAgent: 'phone',
    })
  }

  start = (): Promise<void> => this.#sip.start()
  stop = (): Promise<void> => this.#sip.stop()

  get uri(): string {
    return `sip:phone@127.0.0.1:${this.#sip.listening.port}`
  }

  async calls(
    { realm, username, password }: Tenant,
    uri: string,
    headers: readonly { name: string; value: string }[] = [],
  ): Promise<InviteOutcome> {
    const { outcome } = this.#sip.invite({
      uri,
      from: `sip:${username}@${realm}`,
      to: uri,
      destination: { transport: 'udp', ...platform.sip },
      credentials: { username, password },
      headers,
      body: body(40_000),
    })
    return await outcome
  }

  /** Calls, and returns the dialog once it is answered. */
  async talks(whose: Tenant, uri: string, name: string): Promise<Dialog> {
    const outcome = await this.calls(whose, uri)
    if (outcome.kind !== 'answered') throw new Error(`refused with ${outcome.response.status}`)
    return this.listens(outcome.dialog, name)
  }

  async answers(name: string): Promise<Dialog> {
    const invite = await this.invites.next('a call', () => true)
    return this.listens(invite.accept({ body: body(40_002) }), name)
  }

  listens(dialog: Dialog, name: string): Dialog {
    dialog.listen({
      ended: () => this.events.push(`${name} ended`),
      confirmed: () => undefined,
      failed: (reason) => this.events.push(`${name} ${reason}`),
      offered: async () => ({ status: 200, body: body(40_004) }),
      requested: async () => ({ status: 200 }),
    })
    return dialog
  }
}

async function phone(): Promise<Phone> {
  const one = new Phone()
  await one.start()
  phones.push(one)
  return one
}

/** Returns the number of live legs that talk with another; a phone's answer comes a moment before that. */
async function talking(): Promise<number> {
  const { account_sid } = tenant
  const live = await platform.api.must<{ call_sid: string }[]>('GET', `/Accounts/${account_sid}/Calls`)
  const journals = await Promise.all(
    live.map(({ call_sid }) => journalOf(platform.api, account_sid, call_sid)),
  )
  return journals.filter((events) => events.some(({ type }) => type === 'bridged')).length
}

/** Returns the Replaces of this dialog, from the far end's point of view. */
const replacing = ({ callId, localTag, remoteTag }: Dialog) => ({
  callId,
  toTag: remoteTag,
  fromTag: localTag,
})
const replacesHeader = (dialog: Dialog) => {
  const { callId, toTag, fromTag } = replacing(dialog)
  return { name: 'replaces', value: `${callId};to-tag=${toTag};from-tag=${fromTag}` }
}

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
})

// A tenant for each try: the remains of an earlier try belong to another account.
beforeEach(async () => {
  tenant = await provision(platform.api, { application })
  stranger = await provision(platform.api, { application })
})

afterEach(async () => {
  await Promise.all(phones.splice(0).map((one) => one.stop()))
})

afterAll(async () => {
  await application?.close()
})

const dialing = (to: Phone) =>
  application.on('/call', { json: [{ verb: 'dial', target: [{ type: 'sip', sipUri: to.uri }] }] })

const endOf = (one: Phone, name: string) =>
  one.events.next(`the end of ${name}`, (event) => event === `${name} ended`)

describe('INVITE with Replaces', () => {
  it('an INVITE with Replaces replaces the caller, whose call ends; the called side continues to talk', async () => {
    const [caller, called, other] = [await phone(), await phone(), await phone()]
    dialing(called)
    const first = caller.talks(tenant, `sip:${tenant.target}`, 'first')
    const talking = await called.answers('talk')
    const replaced = await first
    const outcome = await other.calls(tenant, `sip:${tenant.target}`, [replacesHeader(replaced)])
    expect(outcome.kind).toBe('answered')
    await endOf(caller, 'first')
    expect(called.events.items).toEqual([])
    if (outcome.kind === 'answered') await other.listens(outcome.dialog, 'second').bye()
    await endOf(called, 'talk')
    await talking.bye()
    const records = await recentCalls(platform.api, tenant.account_sid, 3)
    expect(records.map(({ answered }) => answered)).toEqual([true, true, true])
    const rules = await Promise.all(
      records.map(async ({ call_sid }) =>
        (await endedJournal(platform.api, tenant.account_sid, call_sid)).map(({ rule }) => rule),
      ),
    )
    expect(rules.filter((one) => one.includes('replaces'))).toHaveLength(2)
  }, 60_000)

  it('an INVITE with Replaces gets the same 481 for a foreign call as for an unknown call', async () => {
    const [caller, called, other] = [await phone(), await phone(), await phone()]
    dialing(called)
    const first = caller.talks(tenant, `sip:${tenant.target}`, 'first')
    await called.answers('talk')
    const { callId, toTag, fromTag } = replacing(await first)
    const said: unknown[] = []
    for (const id of [callId, 'none'])
      for (const whose of [stranger, tenant].slice(0, id === callId ? 1 : 2)) {
        const value = `${id};to-tag=${toTag};from-tag=${fromTag}`
        const outcome = await other.calls(whose, `sip:${whose.target}`, [{ name: 'replaces', value }])
        if (outcome.kind === 'refused') said.push(outcome.response.status)
      }
    expect(said).toEqual([481, 481, 481])
    expect([...caller.events.items, ...called.events.items]).toEqual([])
  }, 60_000)
})

describe('REFER with Replaces', () => {
  it('a REFER with Replaces joins the two that a phone talks with, and ends both of its calls', async () => {
    const [middle, left, right] = [await phone(), await phone(), await phone()]
    dialing(left)
    const first = middle.talks(tenant, `sip:${tenant.target}`, 'first')
    await left.answers('left')
    const toLeft = await first
    dialing(right)
    const second = middle.talks(tenant, `sip:${tenant.target}`, 'second')
    const toRight = await right.answers('right')
    await until('two talks', async () => (await talking()) === 4)
    const reports: (number | undefined)[] = []
    const replaces = { ...replacing(await second), isEarlyOnly: false }
    const { status } = await toLeft.refer({
      referTo: right.uri,
      replaces,
      notified: (report) => void reports.push(report.status),
    })
    expect(status).toBe(202)
    await Promise.all([endOf(middle, 'first'), endOf(middle, 'second')])
    expect(reports).toEqual([100, 200])
    expect([...left.events.items, ...right.events.items]).toEqual([])
    await toRight.bye()
    await endOf(left, 'left')
  }, 60_000)
})

describe('a 302 of a called party', () => {
  it('a 302 of a called party redirects the call to the address that it names', async () => {
    const [caller, called, other] = [await phone(), await phone(), await phone()]
    dialing(called)
    const first = caller.talks(tenant, `sip:${tenant.target}`, 'first')
    const invite = await called.invites.next('a call', () => true)
    invite.reject({ status: 302, headers: [{ name: 'contact', value: `<${other.uri}>` }] })
    const talk = await other.answers('talk')
    await first
    await talk.bye()
    await endOf(caller, 'first')
  }, 60_000)
})
