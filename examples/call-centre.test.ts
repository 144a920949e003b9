// The call centre with real phones: a caller waits, an agent takes it and then the next one, and the wallboard counts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Baresip } from '../test/support/baresip.ts'
import { soundSegments, toneSegments } from '../test/support/audio.ts'
import { happens, startExample, type ExampleRun } from '../test/support/example-run.ts'
import { sharedPlatform } from '../test/support/platform-process.ts'
import { isMissing } from '../test/support/tools.ts'
import { until } from '../test/support/wait.ts'
import { agentNumber, callCentre, patienceSeconds, Wallboard } from './call-centre.ts'
import type { Payload } from './run/example.ts'

const callerHz = 700
const agentHz = 1100

describe('the wallboard', () => {
  const join = (call_sid: string, join_time: number): Payload => ({ event: 'join', call_sid, join_time })
  const taken = (call_sid: string, leave_time: number, from: string): Payload => ({
    event: 'leave',
    leave_reason: 'dequeued',
    call_sid,
    leave_time,
    dequeuer: { from },
  })

  it('counts those who wait, those who were taken and by whom, and those who gave up', () => {
    const board = new Wallboard()
    for (const [sid, at] of [
      ['a', 1000],
      ['b', 3000],
      ['c', 4000],
      ['d', 5000],
    ] as const)
      board.take(join(sid, at))
    board.take(taken('a', 5000, 'anna'))
    board.take(taken('b', 9000, 'anna'))
    board.take({ event: 'leave', leave_reason: 'abandoned', call_sid: 'c', leave_time: 9000 })
    expect(board.data(12_500)).toEqual({
      waiting: 1,
      longest_wait_seconds: 7,
      taken: 2,
      gave_up: 1,
      average_wait_seconds: 5,
      agents: { anna: 2 },
    })
  })
})

describe('the waitHook of the call centre', () => {
  const { hooks } = callCentre.create({ url: '', application_sid: '', api: () => Promise.resolve() })
  const waiting = (payload: Payload) => hooks['/waiting']?.(payload)

  it('says how many are before the caller, and lets it leave when it has waited for long', async () => {
    expect(await waiting({ queue_position: 0, queue_time: 3 })).toMatchObject([{ text: 'You are next.' }, {}])
    expect(await waiting({ queue_position: 4, queue_time: 3 })).toMatchObject([
      { text: 'There are 4 callers before you.' },
      { verb: 'pause' },
    ])
    expect(await waiting({ queue_position: 4, queue_time: patienceSeconds })).toMatchObject([
      { verb: 'say' },
      { verb: 'leave' },
    ])
  })
})

describe.skipIf(isMissing('baresip'))('npm run example -- call-centre', () => {
  let run: ExampleRun
  let callers: Baresip[]
  let agent: Baresip
  beforeAll(async () => {
    run = await startExample('call-centre', await sharedPlatform())
    callers = [await run.phone('caller', { hz: callerHz }), await run.phone('ben', { hz: callerHz })]
    agent = await run.phone('anna', { hz: agentHz })
  })
  afterAll(() => run?.close())

  const domain = () => run.shown('domain')
  const board = async () => {
    const [url = ''] = /http:\/\/[\d.:]+(?=\/wallboard)/.exec(run.process.stdout) ?? []
    return (await (await fetch(`${url}/wallboard`)).json()) as Record<string, unknown>
  }
  const hears = (phone: Baresip, hz: number): Promise<unknown> =>
    until(`${hz} Hz to be heard`, async () =>
      toneSegments(await phone.heard(), hz).some(({ startMs, endMs }) => endMs - startMs > 500),
    )

  it('hands callers over to an agent one after the other, in the order in which they came', async () => {
    for (const [index, phone] of callers.entries()) {
      await phone.dial(`sip:500@${domain()}`)
      await happens(phone, 'CALL_ESTABLISHED')
      await until('the caller to wait', async () => (await board())['waiting'] === index + 1)
    }
    const [first, second] = callers as [Baresip, Baresip]
    await until(
      'the caller to hear where it stands',
      async () => soundSegments(await first.heard()).length > 0,
    )
    await agent.dial(`sip:${agentNumber}@${domain()}`)
    await happens(agent, 'CALL_ESTABLISHED')
    await Promise.all([hears(first, agentHz), hears(agent, callerHz)])
    expect(await board()).toMatchObject({ waiting: 1, taken: 1, agents: { anna: 1 } })
    expect(toneSegments(await second.heard(), agentHz)).toEqual([])
    await first.hangUp()
    await hears(second, agentHz)
    await until('the second to be counted', async () => (await board())['taken'] === 2)
    expect(await board()).toMatchObject({ waiting: 0, gave_up: 0, agents: { anna: 2 } })
    // The payload of this hook does not name the caller that waits.
    for (const name of ['caller', 'ben'])
      expect(run.process.stdout).toContain(`call from ${name} to 500: POST /waiting, answers say, pause`)
    // The agent leaves: the caller is thanked and the call hung up.
    await agent.hangUp()
    await happens(second, 'CALL_CLOSED')
  }, 90_000)
})
