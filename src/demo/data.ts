/** The main shop of the demo, and the demo's logins. Its data fills every page of the console. */
import { type DemoShop, type Line, peopleOf, productsOf, times } from './shop.ts'

export const demoOperator = { email: 'operator@demo.example', password: 'demo-operator' }
/** The only customer of the main shop with a password. */
export const demoCustomer = { email: 'customer@demo.example', password: 'demo-customer', name: 'Noor Haddad' }

/** The inactive lender has not passed KYB yet. */
export const demoLenders = [
  { name: 'Harbour Lending', isActive: true },
  { name: 'Caravan Capital', isActive: true },
  { name: 'Kamo Credit Union', isActive: false },
]

/** The inactive provider is still under review. */
export const demoProviders = [
  { name: 'Dockside Warehousing', archetype: 'warehouse', isActive: true, messages: 24 },
  { name: 'Northline Logistics', archetype: 'third_party_logistics', isActive: true, messages: 18 },
  { name: 'Straits Crossing', archetype: 'cross_border', isActive: true, messages: 12 },
  { name: 'Odds and Ends Storage', archetype: 'generic', isActive: true, messages: 6 },
  { name: 'Lantern Fulfilment', archetype: 'warehouse', isActive: false, messages: 0 },
] as const

const sizes = { name: 'Size', values: ['Small', 'Medium', 'Large'] }
const ringSizes = { name: 'Size', values: ['50', '54', '58'] }
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
  ['Silver Band', 'Jewellery', 'Kiln & Co', 7600, 'silver, ring', 'Recycled silver, hammered, 3 mm.', ringSizes],
  ['Lapis Pendant', 'Jewellery', 'Caravan Trade', 11900, 'lapis, silver, pendant', 'Lapis lazuli in a plain silver bezel.'],
]

const money = { currency: 'USD', step: 400 }
const usd = (amount: number) => ({ amount, currency: money.currency })
const drafts: Line[] = [['Rush Doormat', 'Home', 'Caravan Trade', 3900, 'rush, mat', 'Plaited rush, for a dry porch.']]

export const demoShop: DemoShop = {
  name: 'demo',
  title: 'Bazaar Supply Co.',
  description: 'Objects for a quieter home.',
  currency: money.currency,
  country: 'US',
  merchant: { email: 'merchant@demo.example', password: 'demo-merchant' },
  opensDay: 0,
  ordersInYear: 212,
  newProductEveryDays: 33,
  utcOffsetHours: -5,
  timeZone: 'America/New_York',
  carrier: 'Harbour Parcel',
  taxRates: [
    { country: 'US', region: 'CA', rateBps: 725, inclusive: false },
    { country: 'US', region: 'ME', rateBps: 550, inclusive: false },
    { country: 'US', region: 'NY', rateBps: 887.5, inclusive: false },
    { country: 'GB', region: null, rateBps: 2000, inclusive: true },
  ],
  shippingMethods: [
    { code: 'standard', title: 'Standard, 3 to 5 days', countries: ['US'], price: usd(650) },
    { code: 'express', title: 'Express, next day', countries: ['US'], price: usd(1800) },
    {
      code: 'abroad',
      title: 'Abroad, 7 to 12 days',
      zones: [{ countries: ['CA'] }, {}],
      rates: [
        { upToGrams: 20_000, amount: usd(2400) },
        { upToGrams: 100_000, amount: usd(4800) },
      ],
      freeOver: usd(100_000),
    },
  ],
  products: productsOf(lines, money),
  productsAtFirst: 14,
  drafts: productsOf(drafts, money).map((product) => ({ ...product, status: 'DRAFT' })),
  places: [
    { street: 'Quay Street', city: 'Portland', province: 'ME', postalCode: '04101', countryCode: 'US', ships: 'standard' },
    { street: 'Juniper Avenue', city: 'Oakland', province: 'CA', postalCode: '94607', countryCode: 'US', ships: 'standard' },
    { street: 'Orchard Row', city: 'Brooklyn', province: 'NY', postalCode: '11215', countryCode: 'US', ships: 'express' },
    { street: 'Prairie Lane', city: 'Austin', province: 'TX', postalCode: '78704', countryCode: 'US', ships: 'standard' },
    { street: 'Rue du Marché', city: 'Montréal', province: 'QC', postalCode: 'H2X 1Y4', countryCode: 'CA', ships: 'abroad' },
    { street: 'Cedar Hill', city: 'Seattle', province: 'WA', postalCode: '98103', countryCode: 'US', ships: 'express' },
    { street: 'Mill Lane', city: 'Bristol', province: null, postalCode: 'BS1 4QA', countryCode: 'GB', ships: 'abroad' },
    { street: 'Lindenweg', city: 'Leipzig', province: null, postalCode: '04109', countryCode: 'DE', ships: 'abroad' },
  ],
  people: [
    demoCustomer,
    ...peopleOf(
      'Grace Whitlock, Mateo Alvarez, Hannah Okafor, Daniel Brandt, Priya Raman, Owen Castellan, Sofia Marchetti, Elijah Brooks',
      'Mei Tanaka, Camille Tremblay, Jonah Feldman, Amara Diallo, Lucas Pereira, Ingrid Solberg, Theo Barlow, Naomi Castle, Samuel Greer',
      'Yara Mansour, Wesley Chen, Clara Neumann, Malik Johnson, Beatrice Lowell, Andrei Popescu, Tessa Vandermeer, Rosa Delgado',
      'Felix Hartmann, Imani Carter',
    ),
  ],
  ways: {
    methods: {
      card: { enabled: true, processor: 'stripe' },
      wallet: { enabled: true, merchantIdentifier: 'merchant.example.demo' },
      paypal: { enabled: true },
      crypto: { enabled: true },
      manual: [
        {
          code: 'transfer',
          title: 'Bank transfer',
          instructions: 'Transfer the amount to Bazaar Supply Co., account 000123456789.\nUse the order number as the reference.',
          expiresAfterDays: 7,
        },
      ],
    },
    kyb: {
      cohort: 'US_COMPANY',
      legalName: 'Bazaar Supply Co.',
      registrationNumber: 'US-DEMO-1',
      country: 'US',
      owners: [
        { name: 'Grace Whitlock', share: 70 },
        { name: 'Mateo Alvarez', share: 30 },
      ],
    },
  },
  loans: [
    {
      day: 60,
      asks: {
        requestedAmountUsd: 40_000,
        requestedTermMonths: 12,
        purposeCode: 'INVENTORY',
        selectedTier1Partner: 'HARBOR_INVENTORY',
      },
      submittedDay: 61,
      decisions: [
        { day: 63, decision: 'UNDER_REVIEW', reason: 'The stock count is with the partner' },
        {
          day: 66,
          decision: 'APPROVED',
          reason: 'Stock counted, twelve instalments',
          partnerExternalRef: 'HI-2207',
          assessment: {
            cohort: 'US_COMPANY',
            monthlyAvgRevenueUsd: 21_500,
            verifiedCollateralUsd: 35_000,
            operationalRisk: 'LOW',
          },
        },
      ],
    },
    {
      day: 350,
      asks: {
        requestedAmountUsd: 120_000,
        requestedTermMonths: 24,
        purposeCode: 'EXPANSION',
        selectedTier1Partner: 'MERIDIAN_REVENUE',
      },
      documents: 3,
    },
  ],
  // T3 requires ten repayments on time and no default within twelve months.
  repaid: [
    { lender: 'Harbour Lending', loanRef: 'HL-1001', amountUsd: 3_500, firstDay: 80, everyDays: 24, outcomes: times(11, 'ON_TIME') },
    { lender: 'Caravan Capital', loanRef: 'CC-17', amountUsd: 900, firstDay: 200, everyDays: 30, outcomes: ['LATE'] },
  ],
  payments: [
    { processor: 'stripe', method: 'card', percent: 58 },
    { processor: 'paypal', method: 'paypal', percent: 24 },
    { processor: 'checkout', method: 'card', percent: 11 },
    { processor: 'stripe', method: 'wallet', percent: 7 },
  ],
  partners: [
    { name: 'The Slow Kitchen', code: 'slowkitchen', rateBps: 800, brings: 8 },
    { name: 'Rooms & Light', code: 'roomslight', rateBps: 1000, brings: 6 },
    { name: 'Field Notes Weekly', code: 'fieldnotes', rateBps: 500, brings: 4 },
    { name: 'Thrift Post', code: 'thriftpost', rateBps: 1200, brings: 3, endsDay: 240 },
  ],
  cards: [
    { name: 'birthday', amount: 5_000, note: 'A birthday present', issuedDay: 40, used: 'up' },
    { name: 'wedding', amount: 50_000, note: 'For a wedding list', issuedDay: 95, used: 'in part' },
    { name: 'apology', amount: 2_500, note: 'For a parcel that came late', issuedDay: 130, expiresDay: 220 },
    { name: 'lost', amount: 7_500, note: 'Reported lost', issuedDay: 180, disabledDay: 215 },
    { name: 'return', amount: 4_000, note: 'For a return', issuedDay: 150, used: 'and refunded' },
    { name: 'autumn', amount: 30_000, note: 'Prize of a draw', issuedDay: 250, expiresDay: 800, used: 'in part' },
    { name: 'farewell', amount: 3_000, note: 'From colleagues', issuedDay: 300, used: 'up' },
    { name: 'latest', amount: 10_000, note: 'Sold at the counter', issuedDay: 355 },
  ],
  collections: [
    { title: 'To Wear', type: 'Clothing' },
    { title: 'The Kitchen', type: 'Kitchen' },
    { title: 'Light', type: 'Lighting' },
  ],
  blogs: [
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
  ],
}
