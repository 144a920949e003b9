// The actions of the person whose phone is called, in the guide that connects two people.
import { expect } from 'vitest'
import { soundSegments, tone } from '../support/audio.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { until } from '../support/wait.ts'
import type { Context, GuideOptions } from './run-guide.ts'

const carols = new WeakMap<Context, Baresip>()
const phones = new WeakMap<Context, Baresip>()
/** The length of the audio that the phone had heard when the conversation began. */
const heardMsAtTalk = new WeakMap<Context, number>()
// The shortest time in which "One minute left." can be spoken.
const sentenceMs = 500
// It speaks, so that the caller hears a voice.
const saysHz = 1100

function phoneOf(context: Context): Baresip {
  const phone = phones.get(context)
  if (phone === undefined) throw new Error('the guide has started no phone')
  return phone
}

async function start(context: Context): Promise<void> {
  const phone = await startBaresip({
    username: 'bob',
    password: 'another-long-secret',
    realm: 'phones.example.test',
    proxy: context.platform.sip,
    says: tone(saysHz, 60_000),
  })
  phones.set(context, phone)
  context.cleanUp.push(() => phone.stop())
  expect(await phone.registered()).toMatchObject({ ok: true })
}

/** Resolves when the conversation has begun. */
async function take(context: Context): Promise<void> {
  const phone = phoneOf(context)
  await phone.events.next('the call', ({ type }) => type === 'CALL_INCOMING', { from: closedAt(phone) })
  await phone.command('accept')
  await phone.events.next('the answer', ({ type }) => type === 'CALL_ESTABLISHED', { from: closedAt(phone) })
}

const heardMs = async (phone: Baresip): Promise<number> =>
  soundSegments(await phone.heard()).reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)

const closings = ({ events }: Baresip): number =>
  events.items.filter(({ type }) => type === 'CALL_CLOSED').length

/** Returns the index after the end of the last call. */
const closedAt = ({ events }: Baresip): number =>
  events.items.findLastIndex(({ type }) => type === 'CALL_CLOSED') + 1

const bridges = async ({ platform, toRun }: Context): Promise<number> => {
  const account = toRun('<the account>')
  const calls = await platform.api.must<{ call_status: string; direction: string }[]>(
    'GET',
    `/Accounts/${account}/Calls`,
  )
  return calls.filter(({ call_status }) => call_status === 'in-progress').length
}

const untilBoth = (context: Context): Promise<boolean> =>
  until('both calls to be answered', async () => (await bridges(context)) === 2)

export const calledPhone: GuideOptions['actions'] = {
  'a phone of bob': start,
  async 'bob takes the call'(context) {
    await take(context)
    await untilBoth(context)
  },
  async 'bob takes the call and presses 1'(context) {
    await take(context)
    const phone = phoneOf(context)
    await until('the question', async () => soundSegments(await phone.heard()).length > 0)
    await phone.press('1')
    await untilBoth(context)
    heardMsAtTalk.set(context, await heardMs(phone))
  },
  async 'a phone of carol that answers'(context) {
    const phone = await startBaresip({
      username: 'carol',
      password: 'a-third-long-secret',
      realm: 'phones.example.test',
      proxy: context.platform.sip,
      answers: 'auto',
    })
    carols.set(context, phone)
    context.cleanUp.push(() => phone.stop())
    expect(await phone.registered()).toMatchObject({ ok: true })
  },
  async 'carol talks with alice'(context) {
    const [bob, carol] = [phoneOf(context), carols.get(context)]
    await carol?.events.next('the call', ({ type }) => type === 'CALL_ESTABLISHED')
    // Bob's first call has ended before.
    await until('the end of bob’s call', () => closings(bob) === 2)
    await untilBoth(context)
  },
  async 'bob hangs up'(context) {
    await phoneOf(context).hangUp()
  },
  async 'bob hears the whisper'(context) {
    // Alice's phone is silent, so all audio since the conversation began is the sentence.
    const before = heardMsAtTalk.get(context) ?? 0
    await until('the sentence', async () => (await heardMs(phoneOf(context))) > before + sentenceMs)
  },
}
