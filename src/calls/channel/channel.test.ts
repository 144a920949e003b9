// The socket of one session, with sockets whose other side is the test: its events, and when it is opened, paused and
// closed.
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { ScriptedSockets } from '../../../test/support/scripted-engine/scripted-sockets.ts'
import { ThreadTime } from '../../lib/bounds/thread-time.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLogger } from '../../lib/log.ts'
import { Channel } from './channel.ts'
import { HeardPaces } from './heard-pace.ts'
import type { SentFrame } from './frames.ts'

const frame = (type: SentFrame['type'], data: object = {}): SentFrame => ({ type, call_sid: 'c', data })
const first = frame('session:new')

function stage(paceHeard: () => number = () => 0) {
  const clock = createFakeClock()
  const sockets = new ScriptedSockets()
  /** The events of the channel, in order. */
  const heard: string[] = []
  const channel = new Channel({
    account_sid: 'a',
    hook: { url: 'wss://app.test/ws', method: 'POST', username: null, password: null },
    sockets,
    clock,
    log: silentLogger,
    paceHeard,
    threadTime: new ThreadTime({ clock }),
    listener: {
      command: ({ command }) => heard.push(`command ${command}`),
      malformed: (fault) => heard.push(`malformed: ${fault}`),
      opened: (connection, dropped) => heard.push(`opened ${connection}, dropped ${dropped}`),
      lost: ({ code }) => heard.push(`lost ${code}`),
      closed: ({ code, by }) => heard.push(`closed ${code} by ${by}`),
      resumed: (data) => heard.push(`resumed ${JSON.stringify(data)}`),
      strayAck: (msgid) => heard.push(`stray ${msgid}`),
      slowed: () => heard.push('slowed'),
    },
  })
  const outcomes: string[] = []
  const ask = (given = first): void =>
    void channel.ask(given).then(
      (data) => outcomes.push(`answer ${JSON.stringify(data)}`),
      (error: unknown) => outcomes.push(error instanceof AppError ? error.code : String(error)),
    )
  return { clock, sockets, heard, channel, ask, outcomes }
}

const settled = async (): Promise<void> => {
  for (let step = 0; step < 10; step += 1) await Promise.resolve()
}

async function opened(paceHeard?: () => number) {
  const one = stage(paceHeard)
  one.ask()
  await settled()
  const socket = one.sockets.last
  socket.ack(socket.last('session:new'), [])
  await settled()
  expect([one.outcomes, one.heard]).toEqual([['answer []'], ['opened 1, dropped 0']])
  one.heard.length = 0
  return { ...one, socket }
}

describe('a channel that is closed', () => {
  it('before anything was asked opens no socket', async () => {
    const { channel, sockets, heard } = stage()
    channel.close(1000, 'the call is over')
    await settled()
    expect([sockets.asked.length, heard, channel.isUsable]).toEqual([0, ['closed 1000 by platform'], false])
  })

  it('with something to tell that no question went before is opened for it, and closed behind it', async () => {
    const { channel, sockets, heard } = stage()
    channel.tell(frame('call:status', { call_status: 'failed' }))
    channel.close(1000, 'the call is over')
    await settled()
    expect(sockets.last.frames.map(({ type }) => type)).toEqual(['call:status'])
    expect(sockets.last.closedWith).toEqual({ code: 1000, reason: 'the call is over' })
    expect(heard).toEqual(['opened 1, dropped 0', 'closed 1000 by platform'])
  })

  it('while its socket is being opened lets go of it, and says nothing over it', async () => {
    const { channel, sockets, heard, ask, outcomes, clock } = stage()
    ask()
    channel.close(1000, 'the call is over')
    await settled()
    expect(sockets.opened.every(({ isOver, frames }) => isOver && frames.length === 0)).toBe(true)
    expect([outcomes, heard]).toEqual([['hook_unreachable'], ['closed 1000 by platform']])
    expect(clock.pending).toBe(0)
  })

  it('while it waits to be opened again is not opened again', async () => {
    const { channel, socket, sockets, heard, clock } = await opened()
    socket.end({ code: 1011, because: 'restart' })
    channel.close(1000, 'the call is over')
    clock.advance(60_000)
    await settled()
    expect([sockets.asked.length, heard, clock.pending]).toEqual([
      1,
      ['lost 1011', 'closed 1000 by platform'],
      0,
    ])
  })

  it('takes nothing more, in either direction, however often it is closed', async () => {
    const { channel, socket, heard, ask, outcomes } = await opened()
    channel.close(1001, 'replaced')
    channel.close(1000, 'again')
    socket.command('tag', {})
    channel.tell(frame('call:status'))
    ask(frame('verb:hook'))
    await settled()
    expect(heard).toEqual(['closed 1001 by platform'])
    expect([outcomes.at(-1), socket.typed('call:status')]).toEqual(['hook_unreachable', []])
  })
})

describe('a socket that is gone', () => {
  it('before it was handed over is opened again, and its first question is said there', async () => {
    const { sockets, heard, ask, outcomes, clock } = stage()
    sockets.onOpen = (socket) => {
      if (sockets.opened.length === 1) socket.end({ code: 1011, because: 'restart' })
    }
    ask()
    await settled()
    expect(heard).toEqual(['opened 1, dropped 0', 'lost 1011'])
    clock.advance(500)
    await settled()
    const again = sockets.last.last('session:reconnect')
    sockets.last.ack(again, ['verbs'])
    await settled()
    expect([outcomes, sockets.opened.length]).toEqual([['answer ["verbs"]'], 2])
  })

  it('is not waited for where the application refuses the first one', async () => {
    const { sockets, heard, ask, outcomes, channel, clock } = stage()
    sockets.refusals = 1
    ask()
    await settled()
    expect([heard, outcomes]).toEqual([['closed 1006 by application'], ['hook_unreachable']])
    expect([channel.isUsable, clock.pending]).toEqual([false, 0])
  })

  it('is cut where its application takes more than a megabyte of what it is sent later', async () => {
    const { channel, socket, heard } = await opened()
    socket.bufferedBytes = 1024 * 1024 + 1
    channel.tell(frame('call:status'))
    expect([socket.isOver, heard]).toEqual([true, ['lost 1006']])
  })

  it('says so once, and what it says after its end counts no more', async () => {
    const { socket, heard } = await opened()
    const { closed, heard: hear } = socket.request
    socket.end({ code: 1000, because: 'done' })
    closed({ code: 1011, because: 'again' })
    hear(JSON.stringify({ type: 'command', command: 'tag', data: {} }))
    expect(heard).toEqual(['closed 1000 by application'])
  })

  it('and comes back is resumed with what its application says to that', async () => {
    const { socket, sockets, heard, clock } = await opened()
    socket.end({ code: 1011, because: 'restart' })
    clock.advance(500)
    await settled()
    sockets.last.ack(sockets.last.last('session:reconnect'), [{ verb: 'hangup' }])
    await settled()
    expect(heard).toEqual(['lost 1011', 'opened 2, dropped 0', 'resumed [{"verb":"hangup"}]'])
  })
})

describe('an application that sends faster than it is read', () => {
  it('waits for as long as it is to, which is reported once, and is read on then', async () => {
    const pace = { ms: 0 }
    const { socket, heard, clock } = await opened(() => pace.ms)
    pace.ms = 50
    socket.command('tag', {})
    socket.command('tag', {})
    expect([socket.isPaused, heard]).toEqual([true, ['slowed', 'command tag']])
    clock.advance(49)
    expect([socket.isPaused, heard]).toEqual([true, ['slowed', 'command tag']])
    pace.ms = 0
    clock.advance(1)
    expect(heard).toEqual(['slowed', 'command tag', 'command tag'])
    expect([socket.isPaused, clock.pending]).toEqual([false, 0])
  })

  it('and all of it in one go is heard at the rate', async () => {
    const paced = { wait: () => 0 }
    const { socket, heard, clock } = await opened(() => paced.wait())
    const read = new HeardPaces({ clock, threadTime: new ThreadTime({ clock }) }).socketOf('a')
    paced.wait = () => read({ length: 50 })
    for (let count = 0; count < 600; count += 1) socket.command('tag', {})
    const commands = () => heard.filter((one) => one === 'command tag').length
    expect(commands()).toBeLessThanOrEqual(201)
    clock.advance(1000)
    expect(commands()).toBeGreaterThan(290)
    expect(commands()).toBeLessThanOrEqual(301)
    clock.advance(3100)
    expect([commands(), socket.isPaused]).toEqual([600, false])
    expect(heard.filter((one) => one === 'slowed')).toHaveLength(1)
  })

  it('and closes then is heard to the end first; nothing more is said to its old socket', async () => {
    const pace = { ms: 0 }
    const { socket, sockets, heard, clock, ask, outcomes } = await opened(() => pace.ms)
    ask(frame('verb:hook'))
    pace.ms = 50
    socket.command('tag', {})
    socket.command('tag', {})
    socket.ack(socket.last('verb:hook'), ['verbs'])
    socket.end({ code: 1011, because: 'restart' })
    ask(frame('dial:confirm'))
    clock.advance(150)
    await settled()
    expect(heard).toEqual(['slowed', 'command tag', 'command tag', 'lost 1011'])
    expect(outcomes.at(-1)).toBe('answer ["verbs"]')
    clock.advance(500)
    await settled()
    expect([socket.typed('dial:confirm').length, sockets.last.typed('dial:confirm').length]).toEqual([0, 1])
    expect(sockets.last.typed('verb:hook')).toEqual([])
  })

  it('and leaves more than can be kept is closed, and nothing that waits is heard', async () => {
    const pace = { ms: 0 }
    const { socket, heard, clock } = await opened(() => pace.ms)
    pace.ms = 50
    for (let count = 0; count < 10_002; count += 1) socket.command('tag', {})
    expect(socket.closedWith?.code).toBe(1008)
    clock.advance(499)
    expect(heard).toEqual(['slowed', 'command tag', 'lost 1008'])
    expect(clock.pending).toBe(1)
  })

  it('and makes no sense is closed behind the end of its socket', async () => {
    const pace = { ms: 0 }
    const { socket, heard, clock } = await opened(() => pace.ms)
    pace.ms = 50
    socket.command('tag', {})
    socket.say(new Uint8Array([1]))
    socket.command('tag', {})
    socket.end({ code: 1000, because: 'over' })
    clock.advance(200)
    expect(heard).toEqual([
      'slowed',
      'command tag',
      'malformed: a binary message: messages are text',
      'lost 1003',
    ])
  })

  it.each([
    ['is gone', 1011, 'lost 1011'],
    ['has ended', 1000, 'closed 1000 by application'],
  ])('and %s meanwhile leaves nothing that waits to read it on', async (_what, code, last) => {
    const pace = { ms: 0 }
    const { socket, heard, clock, channel } = await opened(() => pace.ms)
    pace.ms = 50
    socket.command('tag', {})
    socket.end({ code, because: 'x' })
    expect(heard.at(-1)).toBe(last)
    channel.close(1000, 'the call is over')
    expect(clock.pending).toBe(0)
  })
})

it('a binary message closes the socket, and nothing that it says until then counts', async () => {
  const { socket, heard } = await opened()
  socket.say(new Uint8Array([1, 2]))
  socket.command('tag', {})
  expect(heard[0]).toBe('malformed: a binary message: messages are text')
  expect(heard).not.toContain('command tag')
  expect(socket.closedWith?.code).toBe(1003)
})

it('an ack that none waits for is named, shortened', async () => {
  const { socket, heard } = await opened()
  socket.say({ type: 'ack', msgid: 'x'.repeat(100) })
  expect(heard).toEqual([`stray ${'x'.repeat(64)}`])
})
