// A platform with a few users of one realm, each of whom may have a real phone that says a tone of its own: for journeys in which
// phones transfer, hold and join calls. A phone's way to transfer is under one name, whatever its make.
import { expect } from 'vitest'
import { startApplication } from './application.ts'
import type { Application } from './application.ts'
import { rms, slice, tone, toneSegments } from './audio.ts'
import type { Audio } from './audio.ts'
import { startBaresip } from './baresip.ts'
import type { Baresip } from './baresip.ts'
import { startLinphone } from './linphone.ts'
import type { Linphone } from './linphone.ts'
import { provision, startPlatform } from './platform-process.ts'
import type { Platform, Tenant } from './platform-process.ts'
import { until } from './wait.ts'

/** What each user's phone says, in Hz: far enough from each other for one recording. */
export const tones = { alice: 700, bob: 1100, carol: 1900, dave: 2600 } as const
export type PhoneUser = keyof typeof tones

export interface StagePhone {
  readonly user: PhoneUser
  dial(target: string): Promise<void>
  hangUp(): Promise<void>
  /** Sends the other side of its call there, alone (REFER). */
  transfer(target: string): Promise<void>
  heard(): Promise<Audio>
  readonly output: string
}

export interface BaresipPhone extends StagePhone {
  readonly kind: 'baresip'
  readonly phone: Baresip
}

export interface LinphonePhone extends StagePhone {
  readonly kind: 'linphone'
  readonly phone: Linphone
  /** Joins the other sides of its first and its second call (REFER with Replaces). */
  join(): Promise<void>
}

export interface PhoneStage {
  readonly application: Application
  readonly platform: Platform
  readonly tenant: Tenant
  /** The address of a user. */
  of(user: PhoneUser): string
  baresip(user: PhoneUser, answers?: 'auto' | 'manual'): Promise<BaresipPhone>
  linphone(user: PhoneUser, answers?: 'auto' | 'manual'): Promise<LinphonePhone>
  /** Ends the phones. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function openPhoneStage(): Promise<PhoneStage> {
  const application = await startApplication()
  application.on('/status', { status: 200 })
  const platform = await startPlatform()
  const tenant = await provision(platform.api, { application })
  const { account_sid, password, realm } = tenant
  for (const username of Object.keys(tones).filter((name) => name !== tenant.username))
    await platform.api.must('POST', '/Clients', { account_sid, username, password })
  const started: { stop(): Promise<unknown> }[] = []
  const optionsOf = (username: PhoneUser, answers: 'auto' | 'manual') => ({
    username,
    password,
    realm,
    proxy: platform.sip,
    says: tone(tones[username], 60_000),
    answers,
  })
  return {
    application,
    platform,
    tenant,
    of: (user) => `sip:${user}@${realm}`,
    async baresip(user, answers = 'auto') {
      const phone = await startBaresip(optionsOf(user, answers))
      started.push(phone)
      expect(await phone.registered()).toMatchObject({ ok: true })
      return {
        kind: 'baresip',
        user,
        phone,
        dial: (target) => phone.dial(target),
        hangUp: () => phone.hangUp(),
        async transfer(target) {
          await phone.command('transfer', target)
        },
        heard: () => phone.heard(),
        get output() {
          return phone.output
        },
      }
    },
    async linphone(user, answers = 'auto') {
      const phone = await startLinphone(optionsOf(user, answers))
      started.push(phone)
      return {
        kind: 'linphone',
        user,
        phone,
        dial: async (target) => phone.dial(target),
        hangUp: async () => phone.hangUp(),
        transfer: async (target) => phone.transfer(target),
        join: async () => phone.join(),
        heard: () => phone.heard(),
        get output() {
          return phone.output
        },
      }
    },
    async clear() {
      for (const one of started.splice(0).toReversed()) await one.stop()
    },
    async close() {
      for (const one of started.splice(0).toReversed()) await one.stop()
      await platform.remove()
      await application.close()
    },
  }
}

/** Resolves when this phone has heard that user for a second without a gap, as loud as it was said. */
export async function hears(listener: Pick<StagePhone, 'heard' | 'user'>, user: PhoneUser): Promise<void> {
  const hz = tones[user]
  const middle = await until(
    `${listener.user} to hear a second of ${user}`,
    async () => {
      const heard = await listener.heard().catch(() => undefined)
      const segment = heard && toneSegments(heard, hz).find(({ startMs, endMs }) => endMs - startMs > 1400)
      return heard && segment && slice(heard, segment.startMs + 200, segment.startMs + 1200)
    },
    { everyMs: 200 },
  )
  expect(Math.abs(20 * Math.log10(rms(middle) / rms(tone(hz, 1000))))).toBeLessThan(1)
}

/** Resolves when this phone has heard that user for another second from now on. */
export async function hearsMore(
  listener: Pick<StagePhone, 'heard' | 'user'>,
  user: PhoneUser,
): Promise<void> {
  const heardMs = async (): Promise<number> => {
    const segments = toneSegments(await listener.heard(), tones[user])
    return segments.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
  }
  const before = await heardMs()
  await until(
    `${listener.user} to hear ${user} on`,
    async () => ((await heardMs()) - before > 1000 ? true : undefined),
    { everyMs: 200 },
  )
}
