import { describe, expect, it } from 'vitest'
import { argumentsFault } from './arguments.ts'

describe('the command line', () => {
  it.each([[[]], [['doctor']], [['doctor', '--offline']], [['reset-admin']]])('may be %j', (given) => {
    expect(argumentsFault(given)).toBeUndefined()
  })

  it.each([
    [['--port', '4000'], 'has no argument --port: settings .+, set SWITCHHOOK_HTTP_PORT\\.$'],
    [['--sip-port=5070'], 'has no argument --sip-port: settings .+, set SWITCHHOOK_SIP_PORT\\.$'],
    [['--data-dri=/tmp'], 'has no argument --data-dri: settings .+, set SWITCHHOOK_DATA_DIR\\.$'],
    [['--SWITCHHOOK_BIND', '::1'], 'has no argument --SWITCHHOOK_BIND: settings .+, set SWITCHHOOK_BIND\\.$'],
    [['4000'], 'has no argument 4000: settings .+, which docs/reference/settings\\.md lists\\.$'],
    [['docter'], 'has no argument docter: the nearest command is doctor\\.$'],
    [['reset-admin', 'root'], 'has no argument root: settings .+ lists\\.$'],
    [['doctor', '--fix'], '^The doctor has no option --fix: it takes --offline'],
  ])('is refused as %j, with the cure', (given, sentence) => {
    expect(argumentsFault(given)).toMatch(new RegExp(sentence))
  })

  it('is refused without what stands behind the equals sign', () => {
    expect(argumentsFault(['--secret-key=abc'])).not.toContain('abc')
  })
})
