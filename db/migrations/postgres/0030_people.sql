CREATE TABLE "erasures" (
	"customer_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	"order_ids" text NOT NULL,
	"other_ids" text NOT NULL,
	"finished_at" bigint,
	"listed_at" bigint
);
--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "erased_at" bigint;--> statement-breakpoint
CREATE INDEX "erasures_at" ON "erasures" USING btree ("at");--> statement-breakpoint
CREATE INDEX "erasures_open" ON "erasures" USING btree ("at") WHERE finished_at is null or listed_at is null;--> statement-breakpoint
CREATE INDEX "addresses_entered" ON "addresses" USING btree ("entered_by") WHERE entered_by is not null;--> statement-breakpoint
CREATE INDEX "gift_cards_customer" ON "gift_cards" USING btree ("customer_id") WHERE customer_id is not null;