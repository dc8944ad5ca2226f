/** Three small shops in other currencies: one with three decimals, one with large amounts, one without decimals. */
import { type DemoShop, peopleOf, productsOf, times } from './shop.ts'

/** One password for all three merchants, so that it is easy to remember. */
const password = 'demo-merchant'
const bags = { name: 'Bag', values: ['250 g', '500 g'] }
const sizes = { name: 'Size', values: ['Small', 'Large'] }

const kuwait: DemoShop = {
  name: 'diwan-coffee',
  title: 'Diwan Coffee',
  description: 'Coffee, cardamom and the pots to make it in.',
  currency: 'KWD',
  country: 'KW',
  merchant: { email: 'kuwait@demo.example', password },
  opensDay: 38,
  ordersInYear: 44,
  newProductEveryDays: 60,
  utcOffsetHours: 3,
  timeZone: 'Asia/Kuwait',
  carrier: 'Gulf Courier',
  taxRates: [
    { country: 'AE', region: null, rateBps: 500, inclusive: true },
    { country: 'SA', region: null, rateBps: 1500, inclusive: false },
  ],
  shippingMethods: [
    { code: 'courier', title: 'Courier, same day', countries: ['KW'], price: { amount: 1_500, currency: 'KWD' } },
    { code: 'gulf', title: 'Gulf, 3 days', countries: ['AE', 'SA'], price: { amount: 4_750, currency: 'KWD' } },
  ],
  products: productsOf(
    [
      ['Diwan House Blend', 'Coffee', 'Diwan', 4_500, 'coffee, arabica', 'Light roast with green cardamom, ground fine.', bags],
      ['Yemeni Mocha', 'Coffee', 'Diwan', 6_250, 'coffee, single origin', 'Sun dried on the roofs of Haraz.', bags],
      ['Green Cardamom', 'Spice', 'Diwan', 2_750, 'cardamom, spice', 'Whole pods, picked by hand, 100 g.'],
      ['Brass Dallah', 'Pots', 'Souq Metal', 18_500, 'brass, pot', 'The long-beaked pot, tinned inside, for twelve cups.'],
      ['Finjan Set', 'Cups', 'Souq Metal', 7_950, 'porcelain, cups', 'Six small cups without a handle.'],
      ['Saffron Threads', 'Spice', 'Diwan', 5_375, 'saffron, spice', 'One gram of the red ends only.'],
      ['Date Box', 'Sweets', 'Palm House', 3_900, 'dates, gift', 'Khalas and sukkari dates in a cedar box.'],
    ],
    { currency: 'KWD', step: 3_750 },
  ),
  productsAtFirst: 4,
  places: [
    { street: 'Salem Al Mubarak Street', city: 'Salmiya', province: null, postalCode: '22001', countryCode: 'KW', ships: 'courier' },
    { street: 'Gulf Road', city: 'Kuwait City', province: null, postalCode: '13001', countryCode: 'KW', ships: 'courier' },
    { street: 'Palm Street', city: 'Dubai', province: null, postalCode: null, countryCode: 'AE', ships: 'gulf' },
    { street: 'Tahlia Street', city: 'Riyadh', province: null, postalCode: '12241', countryCode: 'SA', ships: 'gulf' },
  ],
  people: peopleOf(
    'Fahad Al Mutawa, Dalal Al Rashed, Yousef Behbehani, Maryam Al Sabti, Khaled Dashti, Hessa Al Ketbi, Nawaf Al Harbi, Reem Boland',
    'Salem Al Awadi',
  ),
  ways: {
    kyb: {
      cohort: 'KUWAIT_WLL',
      legalName: 'Diwan Coffee W.L.L.',
      registrationNumber: 'KW-DEMO-1',
      country: 'KW',
      owners: [{ name: 'Salem Al Awadi', share: 100 }],
    },
  },
  loans: [
    {
      day: 300,
      asks: {
        requestedAmountUsd: 60_000,
        requestedTermMonths: 18,
        purposeCode: 'INVENTORY',
        selectedTier1Partner: 'CARAVAN_TRADE',
      },
      submittedDay: 302,
      decisions: [
        {
          day: 310,
          decision: 'UNDER_REVIEW',
          reason: 'Asked for more than the figures allow: a guarantor is looked for',
          assessment: {
            cohort: 'KUWAIT_WLL',
            monthlyAvgRevenueUsd: 33_000,
            verifiedCollateralUsd: 12_000,
            operationalRisk: 'MEDIUM',
          },
        },
      ],
    },
  ],
  // T2 requires three repayments on time and no default. A late one does not matter.
  repaid: [
    {
      lender: 'Caravan Capital',
      loanRef: 'CC-9',
      amountUsd: 1_250.5,
      firstDay: 100,
      everyDays: 30,
      outcomes: [...times(2, 'ON_TIME'), 'LATE', ...times(3, 'ON_TIME')],
    },
  ],
  payments: [
    { processor: 'tap', method: 'card', percent: 80 },
    { processor: 'checkout', method: 'card', percent: 20 },
  ],
  partners: [{ name: 'Cup Readers', code: 'cupreaders', rateBps: 700, brings: 15 }],
  cards: [
    { name: 'eid', amount: 20_000, note: 'An Eid present', issuedDay: 120, used: 'in part' },
    { name: 'host', amount: 3_500, note: 'For the hosts', issuedDay: 200, used: 'up' },
  ],
}

const mongolia: DemoShop = {
  name: 'steppe-felt',
  title: 'Steppe Felt',
  description: 'Felt and cashmere from the herders of Arkhangai.',
  currency: 'MNT',
  country: 'MN',
  merchant: { email: 'mongolia@demo.example', password },
  opensDay: 85,
  ordersInYear: 41,
  newProductEveryDays: 70,
  utcOffsetHours: 8,
  timeZone: 'Asia/Ulaanbaatar',
  carrier: 'Steppe Post',
  taxRates: [{ country: 'MN', region: null, rateBps: 1000, inclusive: true }],
  shippingMethods: [
    { code: 'city', title: 'Ulaanbaatar, next day', countries: ['MN'], price: { amount: 800_000, currency: 'MNT' } },
    { code: 'aimag', title: 'By the aimag bus, 4 days', countries: ['MN'], price: { amount: 1_500_000, currency: 'MNT' } },
  ],
  products: productsOf(
    [
      ['Felt Slippers', 'Felt', 'Arkhangai Felt', 6_500_000, 'felt, wool', 'Wet felted on the foot, with a leather sole.', sizes],
      ['Cashmere Scarf', 'Cashmere', 'Gobi Loom', 18_900_000, 'cashmere, scarf', 'Undyed goat down, combed in spring.'],
      ['Ger Rug', 'Felt', 'Arkhangai Felt', 45_000_000, 'felt, rug', 'Quilted in the pattern of the endless knot.', sizes],
      ['Camel Wool Socks', 'Wool', 'Gobi Loom', 2_900_000, 'camel, wool', 'Warm at minus thirty.'],
      ['Birch Bowl', 'Wood', 'Khuvsgul Works', 5_400_000, 'birch, bowl', 'Turned from the burl, rimmed with silver.'],
      ['Felt Camel', 'Felt', 'Arkhangai Felt', 1_850_000, 'felt, toy', 'Two humps, stuffed with wool.'],
    ],
    { currency: 'MNT', step: 1_200_000 },
  ),
  productsAtFirst: 4,
  places: [
    { street: 'Peace Avenue', city: 'Ulaanbaatar', province: null, postalCode: '14200', countryCode: 'MN', ships: 'city' },
    { street: 'Seoul Street', city: 'Ulaanbaatar', province: null, postalCode: '14250', countryCode: 'MN', ships: 'city' },
    { street: 'Bridge Street', city: 'Tsetserleg', province: 'Arkhangai', postalCode: '65000', countryCode: 'MN', ships: 'aimag' },
    { street: 'Mine Road', city: 'Erdenet', province: 'Orkhon', postalCode: '61000', countryCode: 'MN', ships: 'aimag' },
  ],
  people: peopleOf(
    'Bolormaa Ganbold, Temuulen Dorj, Sarnai Enkhbat, Otgon Batsaikhan, Nomin Purev, Khulan Tsogt, Anar Myagmar, Tuya Lkhagva',
  ),
  ways: {
    kyb: {
      cohort: 'MN_LLC',
      legalName: 'Steppe Felt LLC',
      registrationNumber: 'MN-DEMO-1',
      country: 'MN',
      owners: [
        { name: 'Bolormaa Ganbold', share: 60 },
        { name: 'Temuulen Dorj', share: 40 },
      ],
    },
  },
  loans: [
    {
      day: 200,
      asks: { requestedAmountUsd: 8_000, requestedTermMonths: 6, purposeCode: 'WORKING_CAPITAL' },
      documents: 2,
      withdrawn: { day: 214, reason: 'The shearing paid for itself' },
    },
    {
      day: 353,
      asks: { requestedAmountUsd: 15_000, requestedTermMonths: 12, purposeCode: 'EQUIPMENT' },
      submittedDay: 355,
    },
  ],
  // T1 in spite of the repayments on time: a default within twelve months.
  repaid: [
    {
      lender: 'Caravan Capital',
      loanRef: 'CC-12',
      amountUsd: 600,
      firstDay: 120,
      everyDays: 25,
      outcomes: [...times(5, 'ON_TIME'), 'DEFAULT'],
    },
  ],
  payments: [{ processor: 'qpay', method: 'card', percent: 100 }],
  cards: [{ name: 'tsagaan-sar', amount: 90_000_000, note: 'For Tsagaan Sar', issuedDay: 160, used: 'in part' }],
}

const japan: DemoShop = {
  name: 'kumo-paper',
  title: 'Kumo Paper',
  description: 'Paper, ink and brushes from a lane in Kyoto.',
  currency: 'JPY',
  country: 'JP',
  merchant: { email: 'japan@demo.example', password },
  opensDay: 140,
  ordersInYear: 35,
  newProductEveryDays: 50,
  utcOffsetHours: 9,
  timeZone: 'Asia/Tokyo',
  carrier: 'Kamo Express',
  taxRates: [{ country: 'JP', region: null, rateBps: 1000, inclusive: true }],
  shippingMethods: [
    { code: 'parcel', title: 'Parcel, 2 days', countries: ['JP'], price: { amount: 880, currency: 'JPY' } },
    { code: 'letter', title: 'Letter, 4 days', countries: ['JP'], price: { amount: 370, currency: 'JPY' } },
  ],
  products: productsOf(
    [
      ['Washi Sheets', 'Paper', 'Kumo', 1_800, 'paper, washi', 'Twenty sheets of kozo, one rough side.'],
      ['Sumi Ink Stick', 'Ink', 'Kumo', 3_200, 'ink, sumi', 'Pine soot and glue, aged for three years.'],
      ['Brush', 'Brushes', 'Fude Works', 4_600, 'brush', 'Goat hair on a bamboo handle.', sizes],
      ['Letter Set', 'Paper', 'Kumo', 1_250, 'paper, letters', 'Ten sheets and five envelopes, woodblock printed.'],
      ['Ink Stone', 'Ink', 'Fude Works', 12_800, 'ink, stone', 'Slate from Ogatsu, with a lid of paulownia.'],
      ['Paper Balloon', 'Paper', 'Kumo', 650, 'paper, toy', 'It rights itself when it is patted.'],
      ['Accordion Book', 'Paper', 'Kumo', 2_400, 'paper, book', 'Forty-eight folds between boards of silk.'],
    ],
    { currency: 'JPY', step: 1_900 },
  ),
  productsAtFirst: 3,
  places: [
    { street: 'Teramachi', city: 'Kyoto', province: 'Kyoto', postalCode: '604-0916', countryCode: 'JP', ships: 'parcel' },
    { street: 'Kuramae', city: 'Taito', province: 'Tokyo', postalCode: '111-0051', countryCode: 'JP', ships: 'letter' },
    { street: 'Nakanoshima', city: 'Kita', province: 'Osaka', postalCode: '530-0005', countryCode: 'JP', ships: 'parcel' },
  ],
  people: peopleOf(
    'Misaki Aoyama, Haruto Ishikawa, Chiyo Matsuda, Ren Okazaki, Emi Shirakawa, Kenji Morimoto, Yui Tachibana, Sora Kitagawa',
  ),
  ways: {
    partnership: { name: 'Kyoto Makers', defaultCardProcessor: 'checkout' },
    kyb: {
      cohort: 'INTL_OTHER',
      legalName: 'Kumo Paper KK',
      registrationNumber: 'JP-DEMO-1',
      country: 'JP',
      owners: [{ name: 'Chiyo Matsuda', share: 100 }],
    },
  },
  loans: [
    {
      day: 250,
      asks: {
        requestedAmountUsd: 20_000,
        requestedTermMonths: 36,
        purposeCode: 'EXPANSION',
        selectedTier2Partner: 'Kamo Credit Union',
      },
      submittedDay: 252,
      decisions: [
        {
          day: 260,
          decision: 'REJECTED',
          reason: 'Revenue and collateral are both under what is lent on',
          assessment: {
            cohort: 'INTL_OTHER',
            monthlyAvgRevenueUsd: 4_200,
            verifiedCollateralUsd: 0,
            operationalRisk: 'LOW',
          },
        },
      ],
    },
  ],
  // T1: fewer than three repayments on time so far.
  repaid: [{ lender: 'Kamo Credit Union', loanRef: 'KC-3', amountUsd: 400, firstDay: 180, everyDays: 60, outcomes: times(2, 'ON_TIME') }],
  payments: [
    { processor: 'checkout', method: 'card', percent: 70 },
    { processor: 'paypal', method: 'paypal', percent: 30 },
  ],
  cards: [{ name: 'new-year', amount: 5_000, note: 'A New Year present', issuedDay: 190 }],
}

export const shopsAbroad: readonly DemoShop[] = [kuwait, mongolia, japan]
