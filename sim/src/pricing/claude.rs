//! Prices of the Claude models, flat. A change of price is a new row, never an edit.
//!
//! Opus 3, Haiku 3 and Mythos Preview have no row, so they are billed `unpriced`.

use super::date::Date;
use super::row::{Prices, Row, Source};
use crate::wire::model::ModelId;

/// Price table of the prompt-caching page, the newest copy.
const PC_N: Source = Source { tag: "PC-N", dated: "2026-09-22..2026-09-28" };
/// Pricing page of the old documentation site: after Opus 4.1, before Sonnet 4.5.
const PRICING_2025: Source = Source { tag: "docs.anthropic.com pricing", dated: "2025-08..2025-09" };
/// Pricing page of the documentation, with the notes on long contexts.
const PC_A: Source = Source { tag: "PC-A", dated: "2026-08-21" };
/// Model overview pages.
const OV_H55: Source = Source { tag: "OV-H55", dated: "2026-10" };
const OV_S55: Source = Source { tag: "OV-S55", dated: "2026-10" };
const OV_O55: Source = Source { tag: "OV-O55", dated: "2026-10" };
/// The halved read price of Sonnet 5.5, which no mirrored official page shows. TheKrush/PromptFuel v1.0.23 agrees.
const CLAUDIT: Source = Source { tag: "kurofune/claudit v1.9.2", dated: "2026-10-24" };

/// Day after the last one with a surcharge for long prompts on Opus 4.6 and Sonnet 4.6.
const SURCHARGE_ENDED: Option<Date> = Some(Date(2026, 3, 13));

const OPUS_5_AND_4_5: Prices = Prices::new(5_000_000, 6_250_000, 10_000_000, 500_000, 25_000_000);
const OPUS_5_AND_4_8_FAST: Prices = Prices::new(10_000_000, 12_500_000, 20_000_000, 1_000_000, 50_000_000);
const OPUS_4: Prices = Prices::new(15_000_000, 18_750_000, 30_000_000, 1_500_000, 75_000_000);
const SONNET_3_AND_4: Prices = Prices::new(3_000_000, 3_750_000, 6_000_000, 300_000, 15_000_000);
const SONNET_4_LONG: Prices = Prices::new(6_000_000, 7_500_000, 12_000_000, 600_000, 22_500_000);
const MYTHOS_AND_FABLE_5: Prices = Prices::new(10_000_000, 12_500_000, 20_000_000, 1_000_000, 50_000_000);
const MYTHOS_AND_FABLE_5_1: Prices = Prices::new(10_000_000, 12_500_000, 20_000_000, 250_000, 50_000_000);

/// Rows in 10⁻¹² USD per token: input, 5m write, 1h write, read, output. Sorted by model and first day.
pub const ROWS: &[Row] = &[
    Row::new(ModelId::Haiku35, None, Prices::new(800_000, 1_000_000, 1_600_000, 80_000, 4_000_000), PC_N),
    Row::new(ModelId::Haiku45, None, Prices::new(1_000_000, 1_250_000, 2_000_000, 100_000, 5_000_000), PC_N),
    Row::new(
        ModelId::Haiku55,
        Some(Date(2026, 10, 7)),
        Prices::new(100_000, 125_000, 200_000, 10_000, 500_000),
        OV_H55,
    )
    .long(100_000, Prices::new(500_000, 625_000, 1_000_000, 50_000, 2_500_000)),
    Row::new(ModelId::Sonnet35, None, SONNET_3_AND_4, PRICING_2025),
    Row::new(ModelId::Sonnet37, None, SONNET_3_AND_4, PRICING_2025),
    Row::new(ModelId::Sonnet4, None, SONNET_3_AND_4, PC_N).long(200_000, SONNET_4_LONG),
    Row::new(ModelId::Sonnet45, None, SONNET_3_AND_4, PC_N).long(200_000, SONNET_4_LONG),
    Row::new(ModelId::Sonnet46, None, SONNET_3_AND_4, PC_A).long(200_000, SONNET_4_LONG),
    Row::new(ModelId::Sonnet46, SURCHARGE_ENDED, SONNET_3_AND_4, PC_N),
    // The rise to 3 / 15 announced for 2026-09-01 did not happen.
    Row::new(ModelId::Sonnet5, None, Prices::new(2_000_000, 2_500_000, 4_000_000, 200_000, 10_000_000), PC_N),
    Row::new(
        ModelId::Sonnet55,
        Some(Date(2026, 9, 28)),
        Prices::new(2_000_000, 2_500_000, 4_000_000, 200_000, 10_000_000),
        OV_S55,
    ),
    Row::new(
        ModelId::Sonnet55,
        Some(Date(2026, 10, 7)),
        Prices::new(2_000_000, 2_500_000, 4_000_000, 100_000, 10_000_000),
        CLAUDIT,
    ),
    Row::new(ModelId::Opus4, None, OPUS_4, PC_N),
    Row::new(ModelId::Opus41, None, OPUS_4, PC_N),
    Row::new(ModelId::Opus45, None, OPUS_5_AND_4_5, PC_N),
    // Fast mode of 4.6 once cost 30 / 150; no source dates it, and it runs at standard price.
    Row::new(ModelId::Opus46, None, OPUS_5_AND_4_5, PC_A)
        .long(200_000, Prices::new(10_000_000, 12_500_000, 20_000_000, 1_000_000, 37_500_000)),
    Row::new(ModelId::Opus46, SURCHARGE_ENDED, OPUS_5_AND_4_5, PC_N),
    Row::new(ModelId::Opus47, None, OPUS_5_AND_4_5, PC_N),
    Row::new(ModelId::Opus48, Some(Date(2026, 5, 28)), OPUS_5_AND_4_5, PC_N).fast(OPUS_5_AND_4_8_FAST),
    Row::new(ModelId::Opus5, Some(Date(2026, 7, 24)), OPUS_5_AND_4_5, PC_N).fast(OPUS_5_AND_4_8_FAST),
    Row::new(
        ModelId::Opus55,
        Some(Date(2026, 9, 22)),
        Prices::new(4_000_000, 5_000_000, 8_000_000, 200_000, 20_000_000),
        OV_O55,
    )
    .fast(Prices::new(8_000_000, 10_000_000, 16_000_000, 400_000, 40_000_000)),
    Row::new(ModelId::Mythos5, None, MYTHOS_AND_FABLE_5, PC_N),
    Row::new(ModelId::Mythos51, None, MYTHOS_AND_FABLE_5_1, PC_N),
    Row::new(ModelId::Fable5, Some(Date(2026, 6, 9)), MYTHOS_AND_FABLE_5, PC_N),
    Row::new(ModelId::Fable51, None, MYTHOS_AND_FABLE_5_1, PC_N),
];
