CREATE TABLE "kyb_events" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "kyb_records" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"merchant_id" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"cohort" text COLLATE "C" NOT NULL,
	"legal_name" text COLLATE "C" NOT NULL,
	"registration_number" text COLLATE "C" NOT NULL,
	"country" text COLLATE "C" NOT NULL,
	"owners" text NOT NULL,
	"reason" text COLLATE "C",
	"decided_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "verified_at" bigint;--> statement-breakpoint
ALTER TABLE "kyb_events" ADD CONSTRAINT "kyb_events_record_id_kyb_records_id_fk" FOREIGN KEY ("record_id") REFERENCES "public"."kyb_records"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyb_records" ADD CONSTRAINT "kyb_records_merchant_id_users_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "kyb_events_position" ON "kyb_events" USING btree ("record_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "kyb_records_live" ON "kyb_records" USING btree ("merchant_id") WHERE status <> 'REJECTED';--> statement-breakpoint
CREATE INDEX "kyb_records_merchant" ON "kyb_records" USING btree ("merchant_id","id");--> statement-breakpoint
CREATE INDEX "kyb_records_status" ON "kyb_records" USING btree ("status","id");--> statement-breakpoint
CREATE INDEX "shops_status" ON "shops" USING btree ("status","id");