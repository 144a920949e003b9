import { describe, expect, it } from 'vitest'
import { createLogger } from './log.ts'
import { createTerminalLog } from './terminal-log.ts'

function linesOf(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = ''
  write(createLogger('debug', createTerminalLog({ write: (part) => (text += part) })))
  return text
}

describe('the log at a terminal', () => {
  it('is time, level, message and fields', () => {
    const text = linesOf((log) => log.info({ port: 3000, name: 'two words', at: { x: 1 } }, 'http listening'))
    expect(text).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}http listening port=3000 name="two words" at=\{"x":1\}\n$/,
    )
  })

  it('shows no secret that the JSON would not show', () => {
    const text = linesOf((log) => log.warn({ password: 'hunter2', deep: { api_key: 'hunter3' } }, 'refused'))
    expect(text).not.toContain('hunter')
    expect(text).toContain('[redacted]')
  })

  it('has the stack of a failure below its line', () => {
    const text = linesOf((log) => log.error({ err: new Error('it broke') }, 'start failed'))
    expect(text).toMatch(/ERROR start failed\n {4}Error: it broke\n {4} {4}at /)
  })

  it('lets no text of a stranger move the cursor, end the line or colour it', () => {
    const text = linesOf((log) =>
      log.info(
        { from: 'a\u001b[2Jb', err: { message: 'x\u009b1m', stack: 'y\r\u001b[1mz' } },
        'm\u001b]0;t\u0007',
      ),
    )
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
    expect(text).toContain('a\\u001b[2Jb')
  })
})
