// Checks how the house is built: walls between rooms and their doors, floors, circles of imports, what a start loads, the map, the words. A path names another house.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { circleFaults } from './house/circles.ts'
import { floorFaults } from './house/floors.ts'
import { mapFaults, roomsOf } from './house/map.ts'
import { readDocuments, readSources } from './house/sources.ts'
import { startFaults } from './house/starts.ts'
import { unusedDoors, wallFaults } from './house/walls.ts'
import { wordFaults } from './house/words.ts'

const root = process.argv[2] ?? join(import.meta.dirname, '..')
const sources = readSources(root, ['src', 'test', 'bench', 'examples', 'scripts', 'migrations'])

const faults = {
  walls: wallFaults(sources),
  doors: unusedDoors(sources),
  floors: floorFaults(sources),
  circles: circleFaults(sources),
  starts: startFaults(sources),
  map: mapFaults(roomsOf(root), readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')),
  words: wordFaults(sources, readDocuments(root)),
}

for (const [rule, found] of Object.entries(faults)) {
  for (const fault of found) console.log(fault)
  console.log(`${rule}: ${found.length} faults`)
  if (found.length > 0) process.exitCode = 1
}
