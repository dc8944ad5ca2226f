CREATE TABLE "list_blocks" (
	"shop_id" text COLLATE "C" NOT NULL,
	"list" text COLLATE "C" NOT NULL,
	"last" text COLLATE "C" NOT NULL,
	"records" integer NOT NULL,
	CONSTRAINT "list_blocks_shop_id_list_last_pk" PRIMARY KEY("shop_id","list","last")
);
--> statement-breakpoint
CREATE TABLE "live_events" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C",
	"name" text COLLATE "C" NOT NULL,
	"data" text NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "time_zone" text COLLATE "C" DEFAULT 'UTC' NOT NULL;--> statement-breakpoint
ALTER TABLE "list_blocks" ADD CONSTRAINT "list_blocks_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "live_events_at" ON "live_events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "carts_begun" ON "carts" USING btree ("shop_id","created_at","status") WHERE draft is null;--> statement-breakpoint
CREATE INDEX "disputes_open" ON "disputes" USING btree ("shop_id","id") WHERE status = 'OPEN';
--> statement-breakpoint
-- by hand: the transaction that wrote a row, by which those who follow these tables know what is new (db/postgres/tail.ts). Rows that are there already are told nobody.
ALTER TABLE "order_events" ADD COLUMN "written_in" xid8;
--> statement-breakpoint
ALTER TABLE "order_events" ALTER COLUMN "written_in" SET DEFAULT pg_current_xact_id();
--> statement-breakpoint
CREATE INDEX "order_events_written_in" ON "order_events" ("written_in") WHERE "written_in" IS NOT NULL;
--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "written_in" xid8;
--> statement-breakpoint
ALTER TABLE "audit_log" ALTER COLUMN "written_in" SET DEFAULT pg_current_xact_id();
--> statement-breakpoint
CREATE INDEX "audit_log_written_in" ON "audit_log" ("written_in") WHERE "written_in" IS NOT NULL;
--> statement-breakpoint
ALTER TABLE "live_events" ADD COLUMN "written_in" xid8 DEFAULT pg_current_xact_id();
--> statement-breakpoint
CREATE INDEX "live_events_written_in" ON "live_events" ("written_in") WHERE "written_in" IS NOT NULL;
