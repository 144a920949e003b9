import { describe, expect, it } from 'vitest'
import { startAll, type Part } from './lifecycle.ts'
import { silentLogger } from './log.ts'

/** Returns the notes of three parts; the second one calls `during` while it starts. */
async function startThree(during: (stop: AbortController) => void): Promise<readonly string[]> {
  const story: string[] = []
  const stop = new AbortController()
  const parts = ['one', 'two', 'three'].map((name): Part => ({
    name,
    async start() {
      if (name === 'two') during(stop)
      story.push(`${name} up`)
    },
    async stop() {
      story.push(`${name} down`)
    },
  }))
  await startAll(parts, { log: silentLogger, signal: stop.signal }).catch((error: unknown) =>
    story.push(String(error)),
  )
  return story
}

describe('parts', () => {
  it('start in order', async () => {
    expect(await startThree(() => undefined)).toEqual(['one up', 'two up', 'three up'])
  })

  it('that were started stop in reverse where one cannot', async () => {
    const broken = () => {
      throw new Error('no port')
    }
    expect(await startThree(broken)).toEqual(['one up', 'one down', 'Error: no port'])
  })

  it('stop in reverse where the start is not wanted any more, the one that was starting too', async () => {
    const story = await startThree((stop) => stop.abort(new Error('a signal')))
    expect(story).toEqual(['one up', 'two up', 'two down', 'one down', 'Error: a signal'])
  })
})
