/** What the demo shop sells: enough of everything that each page has something to show. */
import type { ProductInput } from '../modules/catalog/domain.ts'

export const demoShop = {
  name: 'demo',
  title: 'Bazaar Supply Co.',
  description: 'Objects for a quieter home.',
  currency: 'USD',
  country: 'US',
}
export const demoMerchant = { email: 'merchant@demo.example', password: 'demo-merchant' }
export const demoOperator = { email: 'operator@demo.example', password: 'demo-operator' }
export const demoCustomer = { email: 'customer@demo.example', password: 'demo-customer', name: 'Noor Haddad' }

type Line = readonly [
  title: string,
  type: string,
  vendor: string,
  price: number,
  tags: string,
  words: string,
  options?: { name: string; values: string[] },
]

const sizes = { name: 'Size', values: ['Small', 'Medium', 'Large'] }
const glazes = { name: 'Glaze', values: ['Sand', 'Slate', 'Sea'] }
const lengths = { name: 'Length', values: ['60 cm', '90 cm'] }

const lines: readonly Line[] = [
  [
    'Linen Work Shirt',
    'Clothing',
    'Harbour Mill',
    6800,
    'linen, shirt, summer',
    'Washed linen with a camp collar and horn buttons.',
    sizes,
  ],
  ['Merino Watch Cap', 'Clothing', 'Harbour Mill', 3200, 'wool, winter', 'A close rib of fine merino that keeps its shape.'],
  [
    'Waxed Field Jacket',
    'Clothing',
    'Harbour Mill',
    18900,
    'cotton, jacket, winter',
    'Waxed cotton, four pockets, a lining that can be taken out.',
    sizes,
  ],
  ['Indigo Dyed Scarf', 'Clothing', 'Caravan Trade', 4500, 'cotton, indigo', 'Hand dyed in small lots; no two are the same blue.'],
  ['Stoneware Mug', 'Kitchen', 'Kiln & Co', 2400, 'ceramic, mug', 'Thrown and glazed by hand, holds 350 ml.', glazes],
  ['Serving Bowl', 'Kitchen', 'Kiln & Co', 5600, 'ceramic, bowl', 'Wide, shallow and heavy enough to stay where it is put.', glazes],
  ['Copper Kettle', 'Kitchen', 'Meridian Works', 12900, 'copper, kettle', 'Tin-lined copper with a beech handle.'],
  ['Olive Wood Board', 'Kitchen', 'Caravan Trade', 4800, 'wood, board', 'One piece of wood, oiled, with a bevelled edge.', lengths],
  ['Brass Coffee Scoop', 'Kitchen', 'Meridian Works', 1900, 'brass, coffee', 'Ten grams, level. It will darken as you use it.'],
  ['Glass Carafe', 'Kitchen', 'Meridian Works', 3900, 'glass', 'Mouth-blown, one litre, with a cork.'],
  ['Reading Lamp', 'Lighting', 'Keystone', 14500, 'brass, lamp', 'A brass arm that stays at the angle you leave it.'],
  ['Paper Lantern', 'Lighting', 'Keystone', 5200, 'paper, lamp', 'Mulberry paper over a folding frame.'],
  ['Beeswax Candles', 'Lighting', 'Caravan Trade', 1600, 'wax, candle', 'Six tapers that burn for eight hours each.'],
  ['Wool Throw', 'Home', 'Harbour Mill', 13800, 'wool, blanket, winter', 'Herringbone in undyed Gotland wool.'],
  ['Kilim Runner', 'Home', 'Caravan Trade', 26500, 'wool, rug', 'Flat-woven in a village workshop; both sides are the right one.', lengths],
  ['Cane Stool', 'Home', 'Keystone', 9800, 'wood, cane, stool', 'Ash frame, woven seat, carries 140 kg.'],
  ['Reed Basket', 'Home', 'Caravan Trade', 4200, 'reed, basket', 'Tall enough for firewood, soft enough for laundry.', sizes],
  ['Wall Clock', 'Home', 'Keystone', 8700, 'oak, clock', 'Oak rim, enamel face, a movement you cannot hear.'],
  ['Cedar Soap', 'Bath', 'Caravan Trade', 900, 'soap, cedar', 'Cold process, cedar and laurel.'],
  ['Waffle Towel', 'Bath', 'Harbour Mill', 2900, 'cotton, linen, towel', 'Dries quickly and takes up no room.', lengths],
  ['Field Notebook', 'Paper', 'Meridian Works', 1400, 'paper, notebook', 'Ninety-six thread-sewn pages that lie flat.'],
  ['Letterpress Cards', 'Paper', 'Meridian Works', 1800, 'paper, cards', 'Eight cards on cotton paper, with envelopes.'],
  [
    'Silver Band',
    'Jewellery',
    'Kiln & Co',
    7600,
    'silver, ring',
    'Recycled silver, hammered, 3 mm.',
    { name: 'Size', values: ['50', '54', '58'] },
  ],
  ['Lapis Pendant', 'Jewellery', 'Caravan Trade', 11900, 'lapis, silver, pendant', 'Lapis lazuli in a plain silver bezel.'],
]

/** The products, to be created oldest first. */
export const demoProducts: readonly (ProductInput & { title: string })[] = lines.map(
  ([title, type, vendor, price, tags, words, options], nth) => ({
    title,
    type,
    vendor,
    tags: tags.split(', '),
    descriptionHtml: `<p>${words}</p>`,
    status: 'ACTIVE',
    options: options ? [options] : [],
    variants: (options?.values ?? [undefined]).map((value, at) => ({
      optionValues: value === undefined ? [] : [value],
      price: { amount: price + at * 400, currency: demoShop.currency },
      compareAtPrice: nth % 6 === 0 ? { amount: Math.round(price * 1.25), currency: demoShop.currency } : null,
      cost: { amount: Math.round(price * 0.4), currency: demoShop.currency },
      sku: `${vendor.slice(0, 2).toUpperCase()}-${String(nth + 1).padStart(3, '0')}-${at + 1}`,
      weightGrams: 200 + ((nth * 137) % 2_000),
      onHand: (nth * 7 + at * 3) % 40,
    })),
  }),
)

export const demoCollections: readonly { title: string; type: string }[] = [
  { title: 'To Wear', type: 'Clothing' },
  { title: 'The Kitchen', type: 'Kitchen' },
  { title: 'Light', type: 'Lighting' },
]

export const demoBlogs: readonly { title: string; excerpt: string; bodyHtml: string; tags: string[] }[] = [
  {
    title: 'How a mug is made',
    excerpt: 'Twelve steps, two firings, one crack in ten.',
    bodyHtml: '<p>The clay comes from a pit an hour away. It is wedged, thrown, turned and left to dry for a week.</p>',
    tags: ['ceramic', 'workshop'],
  },
  {
    title: 'Caring for linen',
    excerpt: 'Wash it warm, hang it wet, forget the iron.',
    bodyHtml: '<p>Linen grows softer with every wash. Keep it away from the tumble dryer and it will outlive you.</p>',
    tags: ['linen', 'care'],
  },
  {
    title: 'What brass does with time',
    excerpt: 'Patina is not a fault.',
    bodyHtml: '<p>Left alone, brass turns the colour of honey, then of tea. Lemon and salt take it back to the start.</p>',
    tags: ['brass', 'care'],
  },
]
