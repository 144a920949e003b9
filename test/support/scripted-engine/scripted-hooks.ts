// Hooks that a test answers.
import type { HookAnswer, HookRequest, Hooks } from '../../../src/contracts/hook.ts'

type Answer = (request: HookRequest) => Promise<unknown>

/** Answers by path; a path without an answer stays silent. */
export class ScriptedHooks implements Hooks {
  readonly asked: HookRequest[] = []
  readonly answers = new Map<string, Answer>()

  /** Answers a path with `body` as the parsed JSON of a 200. */
  on(path: string, body: unknown): void {
    this.answers.set(path, () => Promise.resolve(body))
  }

  payloadsOf(path: string): Record<string, unknown>[] {
    return this.asked
      .filter(({ hook: { url } }) => new URL(url).pathname === path)
      .map(({ payload }) => payload as Record<string, unknown>)
  }

  /** Facts that replace the answer's own ones. */
  facts: Partial<HookAnswer> = {}

  async ask(request: HookRequest): Promise<HookAnswer> {
    this.asked.push(request)
    const url = new URL(request.hook.url)
    const body = await this.answers.get(url.pathname)?.(request)
    request.signal?.throwIfAborted()
    url.hash = ''
    return { url: url.href, status: 200, durationMs: 1, attempts: 1, body, ...this.facts }
  }
}

/** Returns an answer that arrives when the test releases it, and rejects when the request is withdrawn. */
export function heldAnswer(): { answer: Answer; release: (body: unknown) => void } {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const answer: Answer = ({ signal }) =>
    Promise.race([
      promise,
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
    ])
  return { answer, release: resolve }
}
