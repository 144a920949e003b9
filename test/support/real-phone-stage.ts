// A platform with a few users of one realm, each with a real phone of any kind, for journeys of real phones.
import { startApplication, type Application } from './application.ts'
import {
  journalOf,
  provision,
  sharedPlatform,
  type JournalEntry,
  type Platform,
  type Tenant,
} from './platform-process.ts'
import {
  createListening,
  phoneKinds,
  startRealPhone,
  type PhoneKind,
  type RealPhone,
  type RealPhoneOptions,
} from './real-phones.ts'
import { until } from './wait.ts'

/** The tone of each user's phone, in Hz. */
const users = { alice: 700, bob: 1100, carol: 1900, dave: 2600 } as const
type User = keyof typeof users

/** The rounds: each kind comes first once, followed by the other two. */
export const rounds = phoneKinds.map(
  (kind, n) => [kind, phoneKinds[(n + 1) % 3] ?? kind, phoneKinds[(n + 2) % 3] ?? kind] as const,
)

interface LiveCall {
  readonly call_sid: string
  readonly direction: string
}

export class RealPhoneStage {
  readonly application: Application
  readonly platform: Platform
  readonly tenant: Tenant
  readonly #started: { stop(): Promise<unknown> }[] = []

  private constructor(application: Application, platform: Platform, tenant: Tenant) {
    this.application = application
    this.platform = platform
    this.tenant = tenant
  }

  static async open(): Promise<RealPhoneStage> {
    const application = await startApplication()
    application.on('/status', { status: 200 })
    const platform = await sharedPlatform()
    const tenant = await provision(platform.api, { application })
    const { account_sid, password } = tenant
    for (const username of ['bob', 'carol', 'dave'])
      await platform.api.must('POST', '/Clients', { account_sid, username, password })
    return new RealPhoneStage(application, platform, tenant)
  }

  /** Starts a phone. All phones except that of alice answer, unless the wishes say otherwise. */
  async phone(user: User, kind: PhoneKind, wishes: Partial<RealPhoneOptions> = {}): Promise<RealPhone> {
    const { realm, password } = this.tenant
    const answers = user === 'alice' ? 'manual' : 'auto'
    const hz = users[user]
    const options = { kind, hz, username: user, realm, password, proxy: this.platform.sip, answers } as const
    return this.ends(await startRealPhone({ ...options, ...wishes }))
  }

  /** Starts several phones in parallel: each waits for most of its start. */
  async phones<const T extends readonly (readonly [User, PhoneKind, Partial<RealPhoneOptions>?])[]>(
    ...wanted: T
  ): Promise<{ readonly [K in keyof T]: RealPhone }> {
    const started = await Promise.allSettled(wanted.map((one) => this.phone(...one)))
    return started.map((one) => {
      if (one.status === 'rejected') throw one.reason
      return one.value
    }) as { readonly [K in keyof T]: RealPhone }
  }

  /** Has it stopped with the phones after the test, and returns it. */
  ends<T extends { stop(): Promise<unknown> }>(one: T): T {
    this.#started.push(one)
    return one
  }

  addressOf(user: User): string {
    return `sip:${user}@${this.tenant.realm}`
  }

  liveCalls(): Promise<readonly LiveCall[]> {
    return this.platform.api.must('GET', `/Accounts/${this.tenant.account_sid}/Calls`)
  }

  journalOf({ call_sid }: LiveCall): Promise<readonly JournalEntry[]> {
    return journalOf(this.platform.api, this.tenant.account_sid, call_sid)
  }

  /** Resolves when the leg between this phone and the platform has this type in its journal, and then an ACK. */
  async isTold(type: string, { hz }: RealPhone): Promise<void> {
    const direction = hz === users.alice ? 'inbound' : 'outbound'
    await until(`${type} in the journal`, async () => {
      const call = (await this.liveCalls()).find((one) => one.direction === direction)
      if (call === undefined) return undefined
      const events = await this.journalOf(call)
      const told = events.findIndex((event) => event.type === type)
      return told >= 0 && events.slice(told).some(({ summary }) => summary === 'ACK')
    })
  }

  /** Has the first phone call the two others, ask the second about the third, and connect the two with each other. */
  async introduce(
    [kind, other, third]: readonly [PhoneKind, PhoneKind, PhoneKind],
    wishes: Partial<RealPhoneOptions> = {},
  ): Promise<void> {
    const listening = createListening()
    const [called, target, caller] = await this.phones(
      ['bob', other, wishes],
      ['carol', third, wishes],
      ['alice', kind, wishes],
    )
    await caller.dial(this.addressOf('bob'))
    await caller.is('talking')
    await listening.hearEachOther(caller, called)
    await caller.hold()
    await this.isTold('media-held', caller)
    const mark = caller.mark()
    await caller.dial(this.addressOf('carol'))
    await caller.is('talking', mark)
    await listening.hearEachOther(caller, target)
    await caller.join()
    await listening.hearEachOther(called, target)
    await caller.is('ended')
    await called.hangUp()
    await target.is('ended')
    await listening.settled()
  }

  async clear(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((one) => one.stop()))
  }

  async close(): Promise<void> {
    await this.application.close()
  }
}
