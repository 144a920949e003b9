// Checks how the house is built: walls between rooms, circles of imports, the map, the words.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { knotsOf } from './house/circles.ts'
import { mapFaults, roomsOf } from './house/map.ts'
import { readSources } from './house/sources.ts'
import { wallFaults } from './house/walls.ts'
import { wordFaults } from './house/words.ts'

const root = join(import.meta.dirname, '..')
const sources = readSources(root, ['src', 'test', 'bench', 'examples', 'scripts', 'migrations'])

interface Rule {
  readonly name: string
  /** False while the house is being put in order: its faults are counted and none is refused. */
  readonly isOn: boolean
  readonly faults: readonly string[]
}

const rules: readonly Rule[] = [
  { name: 'walls', isOn: true, faults: wallFaults(sources) },
  {
    name: 'circles',
    isOn: true,
    faults: knotsOf(sources).map((knot) => `a circle of imports, types included: ${knot.join(', ')}`),
  },
  {
    name: 'map',
    isOn: true,
    faults: mapFaults(roomsOf(root), readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')),
  },
  { name: 'words', isOn: true, faults: wordFaults(root, sources) },
  { name: 'words of exempt places', isOn: false, faults: wordFaults(root, sources, true) },
]

// `node scripts/house.ts 'words of exempt places' src/sip` lists the faults of one rule, on or off, in one folder.
const [wanted, folder = ''] = process.argv.slice(2)
for (const { name, isOn, faults } of rules) {
  if (wanted === undefined ? isOn : wanted === name)
    for (const fault of faults) if (fault.includes(folder)) console.log(fault)
  console.log(`${name}: ${faults.length} faults${isOn ? '' : ' (not refused yet)'}`)
}
process.exitCode = rules.some(({ isOn, faults }) => isOn && faults.length > 0) ? 1 : 0
