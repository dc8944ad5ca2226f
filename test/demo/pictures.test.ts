/** Tests the pictures that the demo draws for its products. */
import { expect, test } from 'bun:test'
import { stillLife } from '../../src/demo/pictures.ts'
import { cleanPicture } from '../../src/lib/pictures/index.ts'

test('a picture of the demo is a small valid PNG, equal for equal names and different for different names', async () => {
  const [scoop, apron] = [stillLife('Brass coffee scoop'), stillLife('Linen apron')]
  expect(cleanPicture(scoop)).toMatchObject({ type: 'image/png', width: 480, height: 480, frames: 1 })
  expect(scoop.length).toBeLessThan(20_000)
  expect((await new Bun.Image(scoop).png().bytes()).length).toBeGreaterThan(0)
  expect([scoop.equals(stillLife('Brass coffee scoop')), scoop.equals(apron)]).toEqual([true, false])
})
