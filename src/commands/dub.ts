// The command dub: runs the verb of this name beside the running verbs.
import { besideOf } from './define/beside.ts'
import { defineCommand } from './define/define-command.ts'
import { anyObject, json } from './define/values.ts'

const dubbing: ReadonlySet<string> = new Set(['dub'])

export const dub = defineCommand({
  name: 'dub',
  frame: 'dub',
  description: 'The options of the verb `dub`: a track that the far end hears.',
  example: { action: 'addTrack', track: 'music', play: 'https://example.com/music.mp3' },
  value: json(anyObject),
  needs: 'answered',
  ready: (options, { leg }) => ({
    outcome: 'dub',
    start: besideOf(leg)({ ...options, verb: 'dub' }, dubbing),
  }),
})
