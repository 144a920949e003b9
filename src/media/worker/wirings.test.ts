// The requests that each worker gets, recorded by stand-ins for workers.
import { describe, expect, it } from 'vitest'
import type { MirrorWiring, WorkerWiring } from '../wiring.ts'
import type { WorkerRequest } from './messages.ts'
import { Wirings } from './wirings.ts'
import type { WorkerLink } from './worker-link.ts'

class NotedWorker {
  readonly index: number
  readonly requests: WorkerRequest[] = []
  isGone = false

  constructor(index: number) {
    this.index = index
  }

  request(request: WorkerRequest): Promise<null> {
    this.requests.push(request)
    return this.isGone ? Promise.reject(new Error('gone')) : Promise.resolve(null)
  }

  /** Returns the last request that it got about a session of its own. */
  wiringOf(session: string): WorkerWiring | undefined {
    const last = this.requests.findLast((one) => one.kind === 'wire' && one.session === session)
    return last?.kind === 'wire' ? last.wiring : undefined
  }

  /** Returns the last request about a session of another worker. */
  mirrorOf(session: string): MirrorWiring | 'never' | 'gone' {
    const last = this.requests.findLast((one) => one.kind === 'mirror' && one.session === session)
    return last?.kind === 'mirror' ? (last.wiring ?? 'gone') : 'never'
  }
}

interface Session {
  readonly id: string
  readonly link: WorkerLink
  readonly keys: string[]
}

function house() {
  const wirings = new Wirings()
  const workers = [new NotedWorker(0), new NotedWorker(1), new NotedWorker(2)] as const
  const enter = (id: string, worker: NotedWorker): Session => {
    const keys: string[] = []
    const link = worker as unknown as WorkerLink
    const sendKeys = (digits: string): Promise<void> => {
      keys.push(digits)
      return Promise.resolve()
    }
    wirings.enter({ id, link, sendKeys })
    return { id, link, keys }
  }
  return { wirings, workers, enter }
}

const hears = (...ids: string[]) => ({
  hears: ids.map((id) => ({ id: `from ${id}`, from: { kind: 'session', id } as const })),
})
const inRoom = (room: string) => ({
  hears: [{ id: 'room', from: { kind: 'room', id: room } as const }],
  speaksIn: { room },
})
const voiceOf = (mirror: MirrorWiring | 'never' | 'gone'): string | undefined =>
  typeof mirror === 'string' ? undefined : mirror.voice?.id

describe('sessions of one worker', () => {
  it('need nothing of another one', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    enter('b', workers[0])
    await wirings.wire('a', hears('b'))
    await wirings.wire('b', { ...hears('a'), isMuted: true, gainDb: 3 })
    expect(workers[0].requests.map(({ kind }) => kind)).toEqual(['wire', 'wire'])
    expect(workers[0].wiringOf('b')).toEqual({ ...hears('a'), isMuted: true, gainDb: 3, voices: [] })
    expect(workers[1].requests).toEqual([])
  })

  it('may hear one that is not there: it is silence', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    await wirings.wire('a', hears('none'))
    expect(workers[0].wiringOf('a')?.hears).toHaveLength(1)
    await wirings.wire('none', hears('a'))
    expect(workers[0].requests).toHaveLength(1)
  })

  it('get the refusal of their worker', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    workers[0].isGone = true
    await expect(wirings.wire('a', hears())).rejects.toThrow('gone')
  })
})

describe('a session that hears one of another worker', () => {
  it('has a mirror of it, whose ring that one writes', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    enter('b', workers[1])
    await wirings.wire('a', hears('b'))
    expect(workers[0].wiringOf('a')?.hears).toEqual(hears('b').hears)
    const voice = voiceOf(workers[0].mirrorOf('b'))
    expect(voice).toBeDefined()
    expect(workers[1].wiringOf('b')?.voices?.map(({ id }) => id)).toEqual([voice])
    expect(workers[1].mirrorOf('a')).toBe('never')
  })

  it('shares that with others of its worker, and the last one takes it away', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    enter('c', workers[0])
    enter('b', workers[1])
    await wirings.wire('a', hears('b'))
    await wirings.wire('c', hears('b'))
    expect(workers[1].wiringOf('b')?.voices).toHaveLength(1)
    await wirings.wire('a', hears())
    expect(voiceOf(workers[0].mirrorOf('b'))).toBeDefined()
    await wirings.wire('c', hears())
    expect(workers[0].mirrorOf('b')).toBe('gone')
    expect(workers[1].wiringOf('b')?.voices).toEqual([])
  })

  it('has another ring in each worker', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    enter('b', workers[1])
    enter('c', workers[2])
    await wirings.wire('a', hears('b'))
    await wirings.wire('c', hears('b'))
    const voices = workers[1].wiringOf('b')?.voices?.map(({ id }) => id) ?? []
    expect(new Set(voices)).toEqual(
      new Set([voiceOf(workers[0].mirrorOf('b')), voiceOf(workers[2].mirrorOf('b'))]),
    )
    expect(voices).toHaveLength(2)
  })

  it('keeps its ring when it states something else besides', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    enter('b', workers[1])
    await wirings.wire('a', hears('b'))
    const voice = voiceOf(workers[0].mirrorOf('b'))
    await wirings.wire('a', { ...hears('b'), isMuted: true })
    await wirings.wire('b', { ...hears('a'), gainDb: 6 })
    expect(voiceOf(workers[0].mirrorOf('b'))).toBe(voice)
    expect(workers[1].wiringOf('b')).toMatchObject({ gainDb: 6, voices: [{ id: voice }] })
  })

  it('gets its keys pressed again, and no other does', async () => {
    const { wirings, workers, enter } = house()
    const a = enter('a', workers[0])
    const b = enter('b', workers[1])
    const c = enter('c', workers[1])
    await wirings.wire('a', hears('b'))
    await wirings.wire('c', hears('b'))
    wirings.noteKey('b', { type: 'digit', digit: '5', durationMs: 120 })
    wirings.noteKey('a', { type: 'digit', digit: '6', durationMs: 120 })
    expect(a.keys).toEqual(['5'])
    // In one worker, packets are passed on unchanged.
    expect([b.keys, c.keys]).toEqual([[], []])
  })

  it.each(['a', 'b'])('leaves nothing behind when %s is closed', async (closed) => {
    const { wirings, workers, enter } = house()
    enter('a', workers[0])
    enter('b', workers[1])
    await wirings.wire('a', hears('b'))
    wirings.leave(closed)
    wirings.leave(closed)
    await Promise.resolve()
    expect(workers[0].mirrorOf('b')).toBe('gone')
    // No further request goes to a session that is closed.
    expect(workers[1].wiringOf('b')?.voices).toHaveLength(closed === 'a' ? 0 : 1)
    await wirings.wire('a', hears())
    expect(workers[0].mirrorOf('b')).toBe('gone')
  })
})

describe('a room', () => {
  it('is in the worker of the first one, and those of others have a mirror there that speaks and listens', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[1])
    enter('b', workers[0])
    await wirings.wire('a', inRoom('meeting'))
    await wirings.wire('b', inRoom('meeting'))
    expect(workers[1].wiringOf('a')).toMatchObject(inRoom('meeting'))
    const mirror = workers[1].mirrorOf('b')
    if (typeof mirror === 'string') throw new Error(mirror)
    expect(mirror).toMatchObject({ speaksIn: { room: 'meeting' }, listens: { room: 'meeting' } })
    const own = workers[0].wiringOf('b')
    expect(own?.hears).toEqual([{ id: 'room', from: { kind: 'ring', ring: mirror.listens?.ring } }])
    expect(own?.voices?.map(({ id }) => id)).toEqual([mirror.voice?.id])
    expect(workers[0].mirrorOf('a')).toBe('never')
  })

  it('of one who only listens has its ear there, and of one who only speaks its voice', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[1])
    enter('b', workers[0])
    enter('c', workers[0])
    await wirings.wire('a', inRoom('meeting'))
    await wirings.wire('b', { hears: inRoom('meeting').hears })
    await wirings.wire('c', { hears: [], speaksIn: { room: 'meeting', onlyTo: ['a'] } })
    const [ear, voice] = [workers[1].mirrorOf('b'), workers[1].mirrorOf('c')]
    expect(ear).toMatchObject({ listens: { room: 'meeting' } })
    expect(ear).not.toHaveProperty('speaksIn')
    expect(voice).toMatchObject({ speaksIn: { room: 'meeting', onlyTo: ['a'] } })
    expect(voice).not.toHaveProperty('listens')
  })

  it('is heard through the same ring when its member states something else besides', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[1])
    enter('b', workers[0])
    await wirings.wire('a', inRoom('meeting'))
    await wirings.wire('b', inRoom('meeting'))
    const before = workers[0].wiringOf('b')?.hears
    await wirings.wire('b', { ...inRoom('meeting'), isMuted: true })
    expect(workers[0].wiringOf('b')).toMatchObject({ hears: before, isMuted: true })
    await wirings.wire('b', inRoom('other'))
    expect(workers[0].wiringOf('b')?.hears).not.toEqual(before)
  })

  it('is left by taking the mirror away, and begins elsewhere when all have left', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[1])
    enter('b', workers[0])
    await wirings.wire('a', inRoom('meeting'))
    await wirings.wire('b', inRoom('meeting'))
    await wirings.wire('b', hears())
    expect(workers[1].mirrorOf('b')).toBe('gone')
    await wirings.wire('a', hears())
    await wirings.wire('b', inRoom('meeting'))
    expect(workers[0].wiringOf('b')).toMatchObject({ hears: inRoom('meeting').hears, voices: [] })
  })

  it('may be two in two workers for one session', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[1])
    enter('c', workers[2])
    enter('b', workers[0])
    await wirings.wire('a', inRoom('one'))
    await wirings.wire('c', inRoom('two'))
    await wirings.wire('b', { hears: inRoom('one').hears, speaksIn: { room: 'two' } })
    expect(workers[1].mirrorOf('b')).toMatchObject({ listens: { room: 'one' } })
    expect(workers[2].mirrorOf('b')).toMatchObject({ speaksIn: { room: 'two' } })
    expect(workers[0].wiringOf('b')?.voices).toHaveLength(2)
  })

  it('goes on in another worker when its own has died', async () => {
    const { wirings, workers, enter } = house()
    enter('a', workers[1])
    enter('b', workers[0])
    enter('c', workers[2])
    for (const id of ['a', 'b', 'c']) await wirings.wire(id, inRoom('meeting'))
    workers[1].isGone = true
    wirings.leave('a')
    wirings.lose(workers[1] as unknown as WorkerLink)
    await Promise.resolve()
    const [first, second] = [workers[0].wiringOf('b'), workers[2].wiringOf('c')]
    expect(first?.hears).toEqual(inRoom('meeting').hears)
    expect(second?.hears[0]?.from.kind).toBe('ring')
    expect(workers[0].mirrorOf('c')).toMatchObject({ speaksIn: { room: 'meeting' } })
  })
})
